// The words about a feature, built from its pattern alone: label, summary, description, activation
// pattern, category.
import { type FeaturePattern, toPattern, toThreshold } from './features.ts';
import { RESIDUE_CLASSES, type ResidueClass } from './residue-classes.ts';

/** The words about one feature. */
export interface FeatureText {
  readonly label: string;
  readonly summary: string;
  readonly description: string;
  readonly activationPattern: string;
  readonly category: string;
}

const SHAPES = [
  {
    title: 'run',
    where: 'four residues in a row',
    sense:
      'Four neighbours in a row say little about which way a side chain points, but much about the local chemistry',
    fold: 'in loops, caps of helices and the signal and transit stretches near the ends of chains',
  },
  {
    title: 'strand face',
    where: 'every second residue (i, i+2, i+4, i+6)',
    sense:
      'In an extended β-strand every second side chain points to the same side, so the pattern is one face of a strand',
    fold: 'in sandwiches, barrels and the edges of sheets',
  },
  {
    title: 'helix face',
    where: 'residues i, i+3, i+4 and i+7',
    sense:
      'With 3.6 residues to a turn of α-helix these four stand along one side of it, so the pattern is one face of a helix',
    fold: 'in helical bundles, coiled coils and helices that lie on a membrane or a sheet',
  },
  {
    title: 'paired turn',
    where: 'two neighbouring pairs with three residues between them (i, i+1, i+5, i+6)',
    sense:
      'Two pairs a short loop apart can meet across a tight turn, so the pattern is the two sides of a hairpin or of a binding loop',
    fold: 'in β-hairpins, metal and phosphate loops and between short helices',
  },
] as const;

const listClasses = ({ classes }: FeaturePattern): ResidueClass[] =>
  classes.flatMap((index) => RESIDUE_CLASSES[index] ?? []);

function toCategory(classes: readonly ResidueClass[], spacing: number): string {
  const count = (test: (c: ResidueClass) => boolean): number => classes.filter(test).length;
  const greasy = count((c) => c.hydrophobic);
  const charged = count((c) => c.charge !== 0);
  if (new Set(classes).size === 1) return 'low complexity';
  if (count((c) => c.name === 'chain-locking') >= 2) return 'disulfide and proline motif';
  if (greasy === 4) return 'hydrophobic core';
  if (charged === 4) return 'charge cluster';
  if (count((c) => c.name === 'aromatic') >= 2) return 'aromatic cluster';
  if (greasy >= 1 && charged >= 1 && spacing === 2) return 'amphipathic helix';
  if (greasy >= 1 && greasy <= 3 && spacing === 1) return 'amphipathic strand';
  if (count((c) => c.name === 'tiny') >= 2) return 'small-residue packing';
  if (count((c) => c.name === 'hydroxyl') >= 2) return 'hydroxyl-rich loop';
  if (spacing === 3) return 'turn motif';
  return 'mixed local motif';
}

function toChemistry(classes: readonly ResidueClass[]): string {
  const greasy = classes.filter((c) => c.hydrophobic).length;
  const plus = classes.filter((c) => c.charge > 0).length;
  const minus = classes.filter((c) => c.charge < 0).length;
  if (greasy === 4)
    return 'All four are hydrophobic, which is typical of buried positions and of membrane segments';
  if (plus > 0 && minus > 0)
    return 'Basic and acidic or amide positions meet, so a salt bridge or a hydrogen bond can tie them together';
  if (plus >= 2)
    return 'Several basic positions make it a likely contact of nucleic acids, phosphate groups or acidic partners';
  if (minus >= 2)
    return 'Several acidic or amide positions make it a likely ligand of metal ions or a solvent-facing patch';
  if (greasy > 0 && plus + minus > 0)
    return 'Hydrophobic and polar positions stand side by side, as where a core meets the solvent';
  if (greasy >= 2) return 'It is mostly hydrophobic, with a break that marks the rim of a core';
  return 'It is small and polar for the most part, which suits flexible and exposed stretches';
}

/** `[LM]··[KRH]`: the letters of each position, a dot for each residue in between. */
function toMotif(pattern: FeaturePattern): string {
  let motif = '';
  for (const [n, one] of listClasses(pattern).entries()) {
    const gap = n === 0 ? 0 : (pattern.spacing.offsets[n] ?? 0) - (pattern.spacing.offsets[n - 1] ?? 0) - 1;
    motif += `${'·'.repeat(gap)}[${one.letters}]`;
  }
  return motif;
}

/** Everything that is said about a feature without looking at proteins. */
export function describeFeature(feature: number): FeatureText {
  const pattern = toPattern(feature);
  const classes = listClasses(pattern);
  const shape = SHAPES[pattern.spacingIndex] ?? SHAPES[0];
  const names = classes.map(({ name }) => name).join(' – ');
  const motif = toMotif(pattern);
  const category = toCategory(classes, pattern.spacingIndex);
  const threshold = (toThreshold(feature) / 1000).toFixed(2);
  return {
    label: `${names} ${shape.title}`,
    summary: `Fires on ${motif}: ${names} at ${shape.where}.`,
    description: `Fires where ${shape.where} spell ${motif}. ${shape.sense}. ${toChemistry(classes)}. Seen ${shape.fold}.`,
    activationPattern: `${motif}; full activation on the four spelled residues, half on those between; windows below ${threshold} stay silent`,
    category,
  };
}
