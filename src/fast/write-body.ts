// Writes the body of a large answer over node:http as its client takes it: nothing is unpacked that nobody takes yet, and other work of
// the process gets its turn in between. It knows neither what is written nor why.
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
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
  // One buffer for all: it is free again when the system has taken what was in it.
  const piece = Buffer.allocUnsafeSlow(PIECE);
  let rested = performance.now();
  for (let count = fill(piece); count > 0; count = fill(piece)) {
    if (!(await written(response, piece.subarray(0, count)))) return;
    if (performance.now() - rested < SLICE) continue;
    await turn();
    rested = performance.now();
  }
  response.end();
}
