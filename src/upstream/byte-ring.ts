// Bytes that are kept in a few large blocks of memory, which are used over and over: what is newer takes the place of what is oldest. As buffers
// of their own they would have to be found by a full collection once they are given up, and what lists leave behind would cause one each second.
// It knows nothing of what they are.

export interface ByteRing {
  /**
   * Makes room in place of what is oldest.
   *
   * @returns where the bytes begin, counted from the first that were ever kept; undefined where they are more than a block holds
   */
  room(length: number): number | undefined;
  /** Whether what was kept there is there still: all in a block is given up together. */
  isThere(at: number): boolean;
  /** The bytes from there on, to the end of the block: others once they are not there any more. */
  from(at: number): Buffer;
}

/** Where bytes are kept. */
export interface Place {
  readonly ring: ByteRing;
  readonly at: number;
  readonly length: number;
}

/** Copies bytes that came in pieces into a ring; undefined where they are more than a block holds. */
export function keepIn(ring: ByteRing, pieces: readonly Uint8Array[]): Place | undefined {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const at = ring.room(length);
  if (at === undefined) return undefined;
  const bytes = ring.from(at);
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  return { ring, at, length };
}

/** Whether the bytes are there still. */
export const isThere = ({ ring, at }: Place): boolean => ring.isThere(at);

/** A copy of the bytes; undefined where others have taken their place. */
export const copyOf = ({ ring, at, length }: Place): Uint8Array | undefined =>
  ring.isThere(at) ? new Uint8Array(ring.from(at).subarray(0, length)) : undefined;

/** @param most - blocks, each made when it is needed for the first time */
export function openByteRing(blockBytes: number, most: number): ByteRing {
  const blocks: Buffer[] = [];
  /** Of what is kept next. */
  let next = 0;
  const blockOf = (at: number): number => Math.floor(at / blockBytes);

  return {
    room(length) {
      if (length > blockBytes) return undefined;
      if ((next % blockBytes) + length > blockBytes) next += blockBytes - (next % blockBytes);
      const at = next;
      next += length;
      return at;
    },
    isThere: (at) => blockOf(at) > blockOf(next - 1) - most,
    from(at) {
      const place = blockOf(at) % most;
      const block = blocks[place] ?? Buffer.allocUnsafeSlow(blockBytes);
      blocks[place] = block;
      return block.subarray(at % blockBytes);
    },
  };
}
