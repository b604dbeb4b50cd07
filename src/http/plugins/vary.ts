// Adds to the Vary header of an answer without losing what is there.

/** @param names - headers on which the answer depends, lower case */
export function addVary(headers: Headers, names: readonly string[]): void {
  const all = new Set((headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of names) all.add(name);
  all.delete('');
  headers.set('vary', [...all].join(', '));
}
