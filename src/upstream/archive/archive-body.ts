// The body of an archive as it arrives, limited to what the request can yield, and read hardly
// beyond what is needed.

import type { StreamedResponse, Upstream } from '../http/upstream-client.ts';
import { ArchiveError } from './archive-limits.ts';

/**
 * Bytes still read after all that is needed, so that the connection can be reused: most archives
 * end there.
 */
const TAIL_BYTES = 256 * 1024;
const TAIL_MS = 1_000;

/**
 * The body of an archive. A class: V8 retains what a nested generator closes over until its next
 * full GC.
 */
export class ArchiveBody implements AsyncIterable<Uint8Array> {
  /** Whether it was left before its end. */
  isCut = false;
  private received = 0;
  private most: number;
  private timer: NodeJS.Timeout | undefined;
  private readonly up: Pick<Upstream, 'onBytes'>;
  private readonly answer: StreamedResponse;

  /** @param most - bytes of an honest one */
  constructor(up: Pick<Upstream, 'onBytes'>, answer: StreamedResponse, most: number) {
    this.up = up;
    this.answer = answer;
    this.most = most;
  }
  /** Whether all is there that is needed of it. */
  get isDone(): boolean {
    return this.timer !== undefined;
  }
  /** Ends reading: a short rest is read, else the connection is closed. */
  finish(): void {
    if (this.isDone) return;
    this.most = Math.min(this.most, this.received + TAIL_BYTES);
    this.timer = setTimeout(() => this.answer.body.destroy(), TAIL_MS).unref();
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { body, call } = this.answer;
    this.isCut = true;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        this.received += chunk.byteLength;
        this.up.onBytes?.(call.operation, chunk.byteLength);
        if (this.received > this.most) {
          if (this.isDone) return;
          throw new ArchiveError(
            'limit',
            `The archive is larger than the ${this.most} bytes that it can have.`,
          );
        }
        yield chunk;
      }
      this.isCut = false;
    } catch (error) {
      if (!this.isDone) throw error;
    } finally {
      clearTimeout(this.timer);
    }
  }
}
