// Sentences about members of a folding result that cannot be trusted.

/** Says what is wrong with a result. @param path - in its JSON */
export const describeMisfit = (path: string, expected: string, seen: string): string =>
  `The upstream's folding result has changed at $.${path}: expected ${expected}, seen ${seen}.`;

/** A value of the service in a sentence. */
export const quote = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 40);
