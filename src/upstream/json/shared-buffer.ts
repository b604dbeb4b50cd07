// Shared memory for a body: pieces are gathered in one block as they arrive and never copied again,
// so that a large file takes its own size of memory.

/** Room that is made on a mere promise of so many bytes. */
const MAX_INITIAL_BYTES = 64 * 1024 ** 2;
const UNPROMISED = 64 * 1024;

const block = (size: number): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(size));

/** @param promised - how many there will be, as the sender says; 0 or less when it does not */
export function collectIntoSharedBuffer(promised: number) {
  let buffer = block(promised > 0 ? Math.min(promised, MAX_INITIAL_BYTES) : UNPROMISED);
  let size = 0;
  return {
    add(piece: Uint8Array) {
      const needed = size + piece.byteLength;
      if (needed > buffer.byteLength) {
        const larger = block(Math.max(needed, 2 * buffer.byteLength));
        larger.set(buffer.subarray(0, size));
        buffer = larger;
      }
      buffer.set(piece, size);
      size = needed;
    },
    /** All pieces so far. */
    bytes: () => buffer.subarray(0, size),
  };
}

const isShared = (bytes: Uint8Array): bytes is Uint8Array<SharedArrayBuffer> =>
  bytes.buffer instanceof SharedArrayBuffer;

/** Bytes as all threads see them: these, where they are shared already, else a copy. */
export function toSharedBuffer(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  if (isShared(bytes)) return bytes;
  const copy = block(bytes.byteLength);
  copy.set(bytes);
  return copy;
}
