// Takes out of a text what must not stand in an error or a log line: addresses with their signatures, tokens, sequences. For
// texts that somebody else wrote (the upstream, a library, a caller's own input that an error quotes). It knows no secret by name.

/** 20 residues in a row. */
const SEQUENCE = /[A-Z*-]{20,}|[a-z]{20,}/g;
const MOST_CHARACTERS = 4000;

const RULES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, '[URL]'],
  // Signed URLs without a scheme, and paths with a query.
  [/[^\s"'<>]*\?[^\s"'<>]*=[^\s"'<>]*/g, '[URL]'],
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 [token]'],
  [/\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g, '[token]'],
  [
    /\b(authorization|signature|password|secret|api[-_ ]?key|access[-_ ]?token|token)(["']?\s*[:=]\s*["']?)[^\s"',;})]+/gi,
    '$1$2[removed]',
  ],
];

/**
 * The text without what looks like an address, a token or a sequence of 20 residues or more.
 *
 * @param secrets - values to take out wherever they stand, such as the caller's own token
 */
export function redact(text: string, ...secrets: readonly (string | undefined)[]): string {
  let clean = text.replace(SEQUENCE, '[sequence]');
  // The rules below look back and forth; nobody reads more of an error than this.
  if (clean.length > MOST_CHARACTERS) clean = `${clean.slice(0, MOST_CHARACTERS)}…`;
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= 4) clean = clean.replaceAll(secret, '[token]');
  }
  for (const [pattern, instead] of RULES) clean = clean.replace(pattern, instead);
  return clean;
}
