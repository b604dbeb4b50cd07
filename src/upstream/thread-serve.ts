// The thread's side of questions and answers. It knows only how an answer and a failure travel.
import { parentPort } from 'node:worker_threads';
import { JsonError } from './lenient-json.ts';
import type { Answer, Question } from './worker-thread.ts';

function failed(id: number, error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof JsonError) return { id, ok: false, kind: 'json', message, position: error.position };
  return error instanceof RangeError ? { id, ok: false, kind: 'range', message } : { id, ok: false, message };
}

/** Answers every question with what `answer` returns or throws. */
export function serve(answer: (body: unknown) => unknown): void {
  const port = parentPort;
  port?.on('message', ({ id, body }: Question) => {
    let message: Answer;
    try {
      message = { id, ok: true, value: answer(body) };
    } catch (error) {
      message = failed(id, error);
    }
    port.postMessage(message);
  });
}
