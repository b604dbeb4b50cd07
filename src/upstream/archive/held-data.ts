// Data that were unpacked to be checked and will most likely be wanted again in a moment: held in a few blocks of memory that are used over
// and over, so that they need not be unpacked twice. As buffers of their own they would outlive their use by several answers: memory
// outside of the heap is collected only when there are 64 MB of it. It knows nothing of what they are.

const BLOCK_BYTES = 1024 ** 2;
/** Of all archives together. What does not fit in is unpacked again, some 50 µs for a structure. */
const MOST_BLOCKS = 2;
/** For how long data are held, and for how long a block that nobody uses is kept: new memory costs as much as unpacking what goes into it. */
const HELD_MS = 1000;
const KEPT_MS = 30_000;

/** Where data are held. */
export interface Held {
  readonly block: Block;
  readonly start: number;
  readonly end: number;
  /** The block's own when they were put in; -1 once they have been taken. */
  round: number;
}

interface Block {
  readonly memory: Uint8Array;
  /** Where there is room. */
  at: number;
  /** Data in it that are still held; one with none is free. */
  held: number;
  /** When the last was put in, on the clock of `performance.now()`. */
  since: number;
  /** Counts up when all in it is forgotten. */
  round: number;
}

const blocks: Block[] = [];
let current: Block | undefined;
let tidying: ReturnType<typeof setInterval> | undefined;

/** Forgets what was held for long enough, and gives back the memory of blocks that nobody has used since. */
function tidy(): void {
  const now = performance.now();
  for (const block of [...blocks]) {
    if (now - block.since > HELD_MS) {
      block.round += 1;
      block.held = 0;
    }
    if (now - block.since <= KEPT_MS) continue;
    blocks.splice(blocks.indexOf(block), 1);
    if (current === block) current = undefined;
  }
  if (blocks.length > 0) return;
  clearInterval(tidying);
  tidying = undefined;
}

/** A block with room; undefined when all are full. */
function blockFor(length: number): Block | undefined {
  if (current !== undefined && current.at + length <= BLOCK_BYTES) return current;
  const free = blocks.find(({ held }) => held === 0);
  if (free !== undefined) free.at = 0;
  else if (blocks.length < MOST_BLOCKS && length <= BLOCK_BYTES) {
    const made = { memory: new Uint8Array(BLOCK_BYTES), at: 0, held: 0, since: 0, round: 0 };
    blocks.push(made);
    tidying ??= setInterval(tidy, HELD_MS).unref();
    current = made;
    return made;
  }
  current = free;
  return free !== undefined && length <= BLOCK_BYTES ? free : undefined;
}

/** Holds data for whoever asks first; undefined where there is no room. */
export function hold(data: Uint8Array): Held | undefined {
  const block = blockFor(data.length);
  if (block === undefined) return undefined;
  const start = block.at;
  const end = start + data.length;
  block.memory.set(data, start);
  block.at = end;
  block.held += 1;
  block.since = performance.now();
  return { block, start, end, round: block.round };
}

/** The data, unless they are held no more. Whoever needs them beyond this turn of the event loop copies them. */
export const peek = ({ block, start, end, round }: Held): Uint8Array | undefined =>
  block.round === round ? block.memory.subarray(start, end) : undefined;

/** The same, and lets them go. */
export function take(held: Held): Uint8Array | undefined {
  const found = peek(held);
  if (found !== undefined) held.block.held -= 1;
  held.round = -1;
  return found;
}
