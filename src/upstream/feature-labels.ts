// One text for each feature's label, whichever answers say it: a list of thousands of proteins has the same few over and over, a fifth of all that is
// held while it is answered. It knows nothing of where they come from.

/** Features of the catalogue. */
const FEATURES = 16_384;
/** Characters of a label that may be held for good: usual ones have some fifty. */
const LONGEST = 160;

const labels = new Array<string | undefined>(FEATURES);

/** Puts the text that is held already in the place of the same one. */
export function shareLabel(value: {
  readonly feature_index: number;
  label?: string | null | undefined;
}): void {
  const { feature_index: index, label } = value;
  if (typeof label !== 'string' || index >= FEATURES || label.length > LONGEST) return;
  const known = labels[index];
  if (known === label) value.label = known;
  else labels[index] = label;
}
