// Finds in a text what must never be written anywhere: tokens, signatures of signed URLs, sequences.

/** A run of residues that is long enough to be somebody's sequence. */
const RESIDUES = /(?<![A-Za-z])[ACDEFGHIKLMNPQRSTVWYBXZUO]{20,}(?![A-Za-z])/g;
const SIGNED = /[?&](?:signature|sig|x-amz-[a-z]+|token)=[^\s"'&[]+/gi;

/** A signature as the sandbox makes it. A run of all tests has thousands, which one pass over the text looks for. */
const SIGNATURE = /^[0-9a-f]{64}$/;
const SIGNATURE_LENGTH = 64;

function signaturesIn(text: string, signatures: ReadonlySet<string>): string[] {
  const runs = signatures.size === 0 ? [] : (text.match(/[0-9a-f]{64,}/g) ?? []);
  const parts = runs.flatMap((run) =>
    Array.from({ length: run.length - SIGNATURE_LENGTH + 1 }, (_, i) => run.slice(i, i + SIGNATURE_LENGTH)),
  );
  return parts.filter((part) => signatures.has(part));
}

/** What of a text must not be there; the secrets that it quotes stand for themselves, the rest is cut short. */
export function leaksIn(text: string, secrets: Iterable<string>): string[] {
  const long = [...secrets].filter((secret) => secret.length >= 8);
  const signatures = new Set(long.filter((secret) => SIGNATURE.test(secret)));
  const found = long.filter((secret) => !signatures.has(secret) && text.includes(secret));
  found.push(...signaturesIn(text, signatures));
  for (const pattern of [RESIDUES, SIGNED]) found.push(...(text.match(pattern) ?? []));
  return [...new Set(found)].map((leak) => leak.slice(0, 60));
}

/** What callers and the service keep secret in a call that the sandbox saw: the caller's token, a signature. */
export function secretsOf({
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
