// The thread that parses large JSON, so that the main loop does not stand still meanwhile. It keeps nothing.
import { parentPort } from 'node:worker_threads';
import { JsonError, parseLenient } from './lenient-json.ts';

/** What the thread is asked. */
export interface ParseRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** What it answers. */
export type ParseAnswer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly position: number | undefined };

const port = parentPort;

port?.on('message', ({ id, bytes }: ParseRequest) => {
  let answer: ParseAnswer;
  try {
    answer = { id, ok: true, value: parseLenient(new TextDecoder().decode(bytes)) };
  } catch (error) {
    answer = { id, ok: false, position: error instanceof JsonError ? error.position : undefined };
  }
  port.postMessage(answer);
});
