// Writes the body of a large answer over node:http as its client takes it: nothing is unpacked that nobody takes yet, and other work of
// the process gets its turn in between. It knows neither what is written nor why.
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { tidyUp, WritingTurn } from '../large-turns.ts';
import { type Body, PIECE } from '../protocol/body.ts';

/** Milliseconds that may go by before other work gets its turn. */
const SLICE = 8;

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

/** Writes a body to an answer whose head has been written, and ends it. */
export async function writeBody(response: ServerResponse, body: Body): Promise<void> {
  const fill = body.open();
  // While the system takes what is in one buffer the other is filled; two are all that it takes.
  let [free, full] = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  let taken = Promise.resolve(true);
  let rested = performance.now();
  const turnOfWriting = new WritingTurn();
  // Only then has everybody let go of it.
  response.once('close', () => setImmediate(setImmediate, tidyUp));
  for (let count = fill(free); count > 0; count = fill(free)) {
    turnOfWriting.goOn();
    const before = taken;
    taken = written(response, free.subarray(0, count));
    if (!(await before)) return turnOfWriting.end();
    [free, full] = [full, free];
    if (performance.now() - rested < SLICE) continue;
    await turn();
    rested = performance.now();
  }
  if (await taken) response.end();
  turnOfWriting.end();
}
