// Removes signed URLs, tokens and sequences from texts that the upstream, a library or a caller's
// input wrote. Texts are cut first, and each pattern has one unbounded run that no other match of
// it can begin within: the time grows linearly with the length of the text.

/** Characters of a text that are shown. */
const MAX_CHARACTERS = 4000;
/** Characters shown of one quotation: it may quote another caller's input. */
const MAX_QUOTED_CHARACTERS = 200;

/** 20 residues in a row. */
const SEQUENCE = /[A-Z*-]{20,}|[a-z]{20,}/g;
const WORD_CHARACTER = /[^\s"'<>,;]/;

/** Signed URLs without a scheme, and paths with a query. */
function withoutQuery(word: string): string {
  const query = word.indexOf('?');
  return query >= 0 && word.includes('=', query) ? '[URL]' : word;
}

const RULES: readonly ((text: string) => string)[] = [
  (text) => text.replace(SEQUENCE, '[sequence]'),
  (text) => text.replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, '[URL]'),
  (text) => text.replace(/[^\s"'<>]+/g, withoutQuery),
  (text) => text.replace(/\/signed\/[^\s"'<>/]+/g, '/signed/[removed]'),
  (text) => text.replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 [token]'),
  (text) => text.replace(/\beyJ[\w.-]{8,}/g, '[token]'),
  (text) =>
    text.replace(
      /\b(authorization|signature|password|secret)(["']?\s*[:=]\s*["']?)[^\s"',;})]+/gi,
      '$1$2[removed]',
    ),
  (text) =>
    text.replace(
      /\b(api[-_ ]?key|access[-_ ]?token|token)(["']?\s*[:=]\s*["']?)[^\s"',;})]+/gi,
      '$1$2[removed]',
    ),
];

/** The beginning of a text, without a word at the cut: no pattern would recognise half a token. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = length;
  while (end > 0 && WORD_CHARACTER.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** Cuts long quotations. Quotation marks behind a backslash belong to the quotation. */
function cutQuotations(text: string): string {
  const quotations = text.split(/(?<!\\)"/);
  return quotations.map((part, i) => (i % 2 === 1 ? cut(part, MAX_QUOTED_CHARACTERS) : part)).join('"');
}

/**
 * The text without URLs, tokens and sequences of 20 residues or more; at most 4,000 characters of
 * it, and 200 of each quotation.
 *
 * @param secrets - values to remove wherever they stand, such as the caller's own token
 */
export function redact(text: string, ...secrets: readonly (string | undefined)[]): string {
  let clean = cutQuotations(cut(text, MAX_CHARACTERS));
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= 4) clean = clean.replaceAll(secret, '[token]');
  }
  for (const rule of RULES) clean = rule(clean);
  return clean;
}
