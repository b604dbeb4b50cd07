// Finds in a text what must never be written anywhere: tokens, signatures of signed URLs,
// sequences.

/** A run of residues that is long enough to be a caller's sequence. */
const RESIDUES = /(?<![A-Za-z])[ACDEFGHIKLMNPQRSTVWYBXZUO]{20,}(?![A-Za-z])/g;
const SIGNED = /[?&](?:signature|sig|x-amz-[a-z]+|token)=[^\s"'&[]+|\/signed\/[^\s"'/[]+/gi;

/**
 * A signature of the sandbox. All tests together know thousands: one pass over the text finds them
 * all, where a search for each took 13 s of a text of 25 MB (Node 20, 2026-11-26).
 */
const SIGNATURE = /^[0-9a-f]{64}$/;
/** Any text that may be a signature, also within a longer run of digits. */
const SIGNATURES = /(?=([0-9a-f]{64}))/g;

/**
 * Finds what must not be in a text; the secrets that it quotes stand for themselves, the rest is
 * cut short.
 */
export function leaksIn(text: string, secrets: Iterable<string>): string[] {
  const long = [...secrets].filter((secret) => secret.length >= 8);
  const signatures = new Set(long.filter((secret) => SIGNATURE.test(secret)));
  const found = long.filter((secret) => !signatures.has(secret) && text.includes(secret));
  for (const [, part = ''] of text.matchAll(SIGNATURES)) if (signatures.has(part)) found.push(part);
  for (const pattern of [RESIDUES, SIGNED]) found.push(...(text.match(pattern) ?? []));
  return [...new Set(found)].map((leak) => leak.slice(0, 60));
}

/**
 * The secrets of callers and the service in a call that the sandbox saw: the caller's token, a
 * signature.
 */
export function listSecrets({
  path,
  headers,
}: {
  readonly path: string;
  readonly headers: Record<string, string>;
}): string[] {
  const token = /^Bearer +(\S+)/i.exec(headers.authorization ?? '')?.[1];
  const signature = new URL(path, 'http://sandbox').searchParams.get('signature');
  return [token, signature].filter((secret) => secret != null);
}
