// Bytes that are kept in a few large blocks of memory, which are used over and over: what is newer takes the place of what is oldest. As buffers
// of their own they would have to be found by a full collection once they are given up, and what lists leave behind would cause one each second.
// It knows nothing of what they are.

/** Where bytes are kept. */
export interface Place {
  readonly block: Block;
  readonly start: number;
  readonly end: number;
  /** The block's own when they were put there. */
  readonly round: number;
}

interface Block {
  readonly memory: Uint8Array;
  /** Where there is room. */
  at: number;
  /** Counts up when all in it is forgotten. */
  round: number;
}

export interface ByteRing {
  /** Copies bytes that came in pieces; undefined where they are more than a block holds. */
  put(pieces: readonly Uint8Array[]): Place | undefined;
}

/** Whether the bytes are there still. */
export const isThere = ({ block, round }: Place): boolean => block.round === round;

/** A copy of the bytes; undefined where others have taken their place. */
export const copyOf = (place: Place): Uint8Array | undefined =>
  isThere(place) ? place.block.memory.slice(place.start, place.end) : undefined;

/** @param most - blocks, each made when it is needed for the first time */
export function openByteRing(blockBytes: number, most: number): ByteRing {
  const blocks: Block[] = [];
  let current = -1;

  function blockFor(length: number): Block {
    const last = blocks[current];
    if (last !== undefined && last.at + length <= blockBytes) return last;
    current = (current + 1) % most;
    const next = blocks[current] ?? { memory: new Uint8Array(blockBytes), at: 0, round: 0 };
    blocks[current] = next;
    next.at = 0;
    next.round += 1;
    return next;
  }

  return {
    put(pieces) {
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      if (length > blockBytes) return undefined;
      const block = blockFor(length);
      const start = block.at;
      for (const piece of pieces) {
        block.memory.set(piece, block.at);
        block.at += piece.length;
      }
      return { block, start, end: block.at, round: block.round };
    },
  };
}
