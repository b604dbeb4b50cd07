// Whose turn it is to work on a large answer: to read its archive and to write what came of it. Several at once would all be held in memory
// until the last of them has been written, and none would be answered any sooner: both are this process' own work. It knows neither archives
// nor answers.
import { setImmediate as turn } from 'node:timers/promises';
import { collectYoung } from './collector.ts';
import { collectPile, steerYoung } from './left-behind.ts';

/** Milliseconds that the next bytes may be on their way, or these be dealt with, before another goes on. */
const PATIENCE = 15;
/** Milliseconds for which the writing of an answer is waited for at most: who takes it at once has it by then. */
const WRITING = 300;

/** Bytes of an archive after which others get their turn: whoever writes what came of them has written most of it before there is more. */
const STRETCH = 256 * 1024;

/** One who works on a large answer. */
interface Work {
  late: ReturnType<typeof setTimeout> | undefined;
  /** Whether its archive has been read to the end. */
  isRead: boolean;
  /** Until when others wait for its writing, on the clock of `performance.now()`; undefined while nobody writes. */
  until: number | undefined;
}

const waiting: { readonly work: Work; go(): void }[] = [];
let current: Work | undefined;

function pass(work: Work): void {
  clearTimeout(work.late);
  if (current !== work) return;
  const next = waiting.shift();
  current = next?.work;
  next?.go();
}

/** Has others wait for a while from now. */
function stay(work: Work): void {
  clearTimeout(work.late);
  work.late = setTimeout(pass, PATIENCE, work);
}

/** Gives the bytes of an archive on while it is its turn, which is so until they are long in coming, or have ended and nobody writes what came of them. */
export async function* inTurn(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const work: Work = { late: undefined, isRead: false, until: undefined };
  let given = 0;
  steerYoung();
  stay(work);
  try {
    for await (const bytes of source) {
      clearTimeout(work.late);
      current ??= work;
      if (current !== work) await new Promise<void>((go) => waiting.push({ work, go }));
      stay(work);
      yield bytes;
      given += bytes.length;
      if (given < STRETCH) continue;
      given = 0;
      steerYoung();
      await turn();
    }
    work.isRead = true;
    stay(work);
  } finally {
    if (!work.isRead) pass(work);
  }
}

/** The writing of one large answer, most likely of what was read last. */
export class WritingTurn {
  #work: Work | undefined;

  /** Says that some more is about to be written. */
  goOn(): void {
    if (this.#work === undefined && current?.isRead === true && current.until === undefined) {
      this.#work = current;
      current.until = performance.now() + WRITING;
    }
    const work = this.#work;
    if (work !== undefined && current === work && performance.now() < (work.until ?? 0)) stay(work);
  }
  /** Says that all is written, or that it was given up. */
  end(): void {
    if (this.#work !== undefined) pass(this.#work);
  }
}

/** Tidies up behind a large answer of which nothing is left. */
export function tidyUp(): void {
  // Whoever waits would grow old by it, and all that comes to them with them.
  if (waiting.length === 0) collectYoung();
  steerYoung();
  collectPile();
}
