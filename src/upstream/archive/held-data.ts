// Data that were unpacked to be checked and will most likely be wanted again in a moment: held in a few blocks of memory that are used over
// and over, so that they need not be unpacked twice. As buffers of their own they would outlive their use by several answers: memory
// outside of the heap is collected only when there are 64 MB of it. It knows nothing of what they are.

const BLOCK_BYTES = 1024 ** 2;
/** Of all archives together. What does not fit in is unpacked again, some 50 µs for a structure. */
const MOST_BLOCKS = 16;
/** For how long data are held, and for how long a block that nobody uses is kept: new memory costs as much as unpacking what goes into it. */
const HELD_MS = 1000;
const KEPT_MS = 30_000;

export interface Held {
  /** The data, unless they are held no more. Whoever needs them beyond this turn of the event loop copies them. */
  peek(): Uint8Array | undefined;
  /** The same, and lets them go. */
  take(): Uint8Array | undefined;
}

interface Block {
  readonly memory: Buffer;
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
    const made = { memory: Buffer.allocUnsafeSlow(BLOCK_BYTES), at: 0, held: 0, since: 0, round: 0 };
    blocks.push(made);
    tidying ??= setInterval(tidy, HELD_MS).unref();
    current = made;
    return made;
  }
  current = free;
  return free !== undefined && length <= BLOCK_BYTES ? free : undefined;
}

const NOTHING: Held = { peek: () => undefined, take: () => undefined };

/** Holds data for whoever asks first. */
export function hold(data: Uint8Array): Held {
  const block = blockFor(data.length);
  if (block === undefined) return NOTHING;
  const { memory, at: start, round } = block;
  const end = start + data.length;
  memory.set(data, start);
  block.at = end;
  block.held += 1;
  block.since = performance.now();
  let mine = true;
  const peek = () => (mine && block.round === round ? memory.subarray(start, end) : undefined);
  return {
    peek,
    take() {
      const found = peek();
      if (found !== undefined) block.held -= 1;
      mine = false;
      return found;
    },
  };
}
