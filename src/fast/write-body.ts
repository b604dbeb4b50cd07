// Writes the body of a large answer over node:http as its client takes it: nothing is unpacked that nobody takes yet, and other work of
// the process gets its turn in between. It knows neither what is written nor why.
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { type Body, PIECE, ROOM } from '../protocol/body.ts';

/** Milliseconds that may go by before other work gets its turn. */
const SLICE = 8;
/** Stands for a turn of the event loop that came first. */
const LATER = Symbol('later');

/** Writes some bytes and waits until they are the system's. @returns whether the client is still there */
const written = (response: ServerResponse, bytes: Uint8Array): Promise<boolean> =>
  new Promise((resolve) => {
    const left = () => resolve(false);
    response.once('close', left);
    response.write(bytes, () => {
      response.off('close', left);
      resolve(!response.destroyed);
    });
  });

/** A body that comes in several, one behind the other. */
export interface LateBodies {
  /** More than anybody keeps: nobody knows how many they will be. */
  readonly byteLength: typeof Number.POSITIVE_INFINITY;
  readonly bodies: AsyncIterable<Body>;
}

/**
 * Writes a body to an answer whose head has been written, and ends it.
 *
 * @throws what a body that was waited for has failed with; the answer is then neither whole nor ended
 */
export async function writeBody(response: ServerResponse, body: Body | LateBodies): Promise<void> {
  // While the system takes what is in one buffer the other is filled; two are all that it takes.
  let free = Buffer.allocUnsafeSlow(PIECE);
  let full: typeof free | undefined;
  let filled = 0;
  let hasBegun = false;
  let taken = Promise.resolve(true);
  let rested = performance.now();
  /** Writes what is filled in. @returns whether the client is still there */
  const flush = async (): Promise<boolean> => {
    const before = taken;
    taken = written(response, free.subarray(0, filled));
    hasBegun = true;
    filled = 0;
    [free, full] = [full ?? Buffer.allocUnsafeSlow(PIECE), free];
    const isThere = await before;
    if (performance.now() - rested < SLICE) return isThere;
    await turn();
    rested = performance.now();
    return isThere;
  };
  const bodies = 'open' in body ? [body].values() : body.bodies[Symbol.asyncIterator]();
  for (;;) {
    const coming = Promise.resolve(bodies.next());
    // It may fail when nobody waits for it any more.
    coming.catch(() => undefined);
    // The beginning goes at once. Behind it, what comes in the same turn goes along: each write costs as much as filling in some more.
    const isDue = filled > 0 && (!hasBegun || (await Promise.race([coming, turn(LATER)])) === LATER);
    if (isDue && !(await flush())) return;
    const next = await coming;
    if (next.done === true) break;
    const fill = next.value.open();
    for (;;) {
      const count = fill(free.subarray(filled));
      if (count === 0) break;
      filled += count;
      if (filled + ROOM > PIECE && !(await flush())) return;
    }
  }
  if ((filled === 0 || (await flush())) && (await taken)) response.end();
}
