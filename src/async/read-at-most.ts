// Reads a stream of bytes into memory, within a bound.

/**
 * Reads a body to its end. One that is null is empty.
 *
 * @param refuse - makes the error that ends the reading as soon as more than `maxBytes` have come
 */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  refuse: () => Error,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > maxBytes) throw refuse();
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}
