// One request whose answer is gathered whole, by undici's own means: no stream is made for a body that nobody reads in pieces, which is half
// of the work of a small answer. It knows neither operations nor limits.
import type { Dispatcher } from 'undici';
import { asError } from './errors.ts';
import type { Leaving } from './leaving.ts';

export interface Gathered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly chunks: readonly Buffer[];
  /** Why the body has not come to its end; undefined when it has. */
  readonly broken: Error | undefined;
}

/** Who is told of an answer as it comes. */
export interface Watching {
  /** Its status and headers are there. */
  begun(status: number): void;
  /** So many bytes of its body are there. @throws what ends it */
  grown(bytes: number): void;
}

class Gathering implements Dispatcher.DispatchHandler {
  private status = 0;
  private headers: Gathered['headers'] = {};
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private controller: Dispatcher.DispatchController | undefined;
  private readonly leaving: Leaving;
  private readonly watching: Watching;
  private readonly resolve: (gathered: Gathered) => void;
  private readonly reject: (error: unknown) => void;

  constructor(
    leaving: Leaving,
    watching: Watching,
    resolve: (gathered: Gathered) => void,
    reject: (error: unknown) => void,
  ) {
    this.leaving = leaving;
    this.watching = watching;
    this.resolve = resolve;
    this.reject = reject;
    leaving.addEventListener('abort', this.left);
  }
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.leaving.aborted) this.left();
  }
  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // That it goes on is no answer yet.
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.watching.begun(status);
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.byteLength;
    try {
      this.watching.grown(this.bytes);
    } catch (error) {
      controller.abort(asError(error));
    }
  }
  onResponseEnd(): void {
    this.end(undefined);
  }
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.end(error);
  }
  private end(broken: Error | undefined): void {
    this.leaving.removeEventListener('abort', this.left);
    if (this.status === 0) this.reject(broken);
    else this.resolve({ status: this.status, headers: this.headers, chunks: this.chunks, broken });
  }
  private readonly left = (): void => {
    const reason = asError(this.leaving.reason);
    // One that waits for a connection yet is ended when it gets one.
    if (this.controller === undefined) this.end(reason);
    else this.controller.abort(reason);
  };
}

/** Sends a request and gathers its answer. @throws what it failed with before there was an answer */
export const gather = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  leaving: Leaving,
  watching: Watching,
): Promise<Gathered> =>
  new Promise((resolve, reject) => {
    if (leaving.aborted) reject(leaving.reason);
    else dispatcher.dispatch(options, new Gathering(leaving, watching, resolve, reject));
  });
