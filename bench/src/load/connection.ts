// One kept-alive HTTP/1.1 connection that asks one question at a time and reads the answer with as
// little work as there can be, so that the load generator is never what is measured. It knows no
// GraphQL.
import { connect, type Socket } from 'node:net';

/**
 * How much of a body counts as its beginning: a header, a boundary or an empty part is no answer
 * yet.
 */
const BEGINNING = 256;

/**
 * One answer. Times are milliseconds from the last byte of the question handed over; the first is
 * that of the body's beginning.
 */
export interface Taken {
  readonly status: number;
  readonly bytes: number;
  readonly firstMs: number;
  readonly totalMs: number;
  /** The body as it came, chunk sizes left out; only when it was asked to be kept. */
  readonly body: Buffer;
  /** The text that was looked for and what stands behind it; null where it is not in the body. */
  readonly found: Buffer | null;
}

/** How to treat a body beside counting its bytes. */
export interface AskOptions {
  /**
   * Whether it is kept: who measures large bodies keeps none, or their collection is measured too.
   */
  readonly keep?: boolean;
  /** A text to look for while it comes. */
  readonly look?: string;
}

export interface Connection {
  ask(request: Buffer, options?: AskOptions): Promise<Taken>;
  close(): void;
}

/** A body that ends: by its length, by a last chunk, or with the header. */
interface Ending {
  readonly length: number | null;
}

const NOTHING = Buffer.alloc(0);
const HEADER_END = Buffer.from('\r\n\r\n');

function toEnding(header: string, status: number): Ending {
  if (status === 304 || status === 204) return { length: 0 };
  const length = /\r\ncontent-length: *(\d+)/i.exec(header)?.[1];
  if (length !== undefined) return { length: Number(length) };
  if (/\r\ntransfer-encoding: *chunked/i.test(header)) return { length: null };
  throw new Error(`An answer without length: ${header}`);
}

/** Takes the chunks of a body out of what arrives. */
class Chunks {
  done = false;
  #left = 0;
  #state: 'size' | 'data' | 'end' | 'trailer' = 'size';
  #rest = '';

  /** @param give - given the data in these bytes, as they stand */
  take(bytes: Buffer, give: (data: Buffer) => void): void {
    for (let at = 0; at < bytes.length && !this.done; ) {
      if (this.#state === 'data') {
        const length = Math.min(this.#left, bytes.length - at);
        give(bytes.subarray(at, at + length));
        at += length;
        this.#left -= length;
        if (this.#left === 0) this.#state = 'end';
        continue;
      }
      const line = bytes.indexOf(10, at);
      this.#rest += bytes.toString('latin1', at, line === -1 ? bytes.length : line + 1);
      if (line === -1) return;
      at = line + 1;
      this.#line(this.#rest.trim());
      this.#rest = '';
    }
  }

  #line(text: string): void {
    if (this.#state === 'end') {
      this.#state = 'size';
      return;
    }
    if (this.#state === 'trailer') {
      this.done = text === '';
      return;
    }
    this.#left = Number.parseInt(text, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'data';
  }
}

/** How much behind what was found is told. */
const EXCERPT = 600;

/** Looks for a text in what arrives, also where it is cut in two. */
class Search {
  found: Buffer | null = null;
  readonly #text: Buffer;
  /** The last bytes before, in which it may begin. */
  #before: Buffer = NOTHING;

  constructor(text: string) {
    this.#text = Buffer.from(text);
  }
  take(part: Buffer): void {
    if (this.found !== null) return;
    const overlap = this.#text.length - 1;
    const seam = Buffer.concat([this.#before, part.subarray(0, overlap)]);
    const [inSeam, at] = [seam.indexOf(this.#text), part.indexOf(this.#text)];
    if (inSeam !== -1)
      this.found = Buffer.concat([seam.subarray(inSeam), part.subarray(overlap, overlap + EXCERPT)]);
    else if (at !== -1) this.found = Buffer.from(part.subarray(at, at + EXCERPT));
    // A copy: a part of it would hold all of it.
    this.#before = Buffer.from(
      (part.length < overlap ? seam : part).subarray(-Math.min(overlap, seam.length)),
    );
  }
}

interface Asked {
  readonly since: number;
  readonly kept: Buffer[] | null;
  readonly search: Search | null;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Bytes that are read at once, always into the same memory: who measures large answers leaves
 * nothing to collect, or that is measured too.
 */
const READ = 256 * 1024;

/** Connects. @param onData - given what comes, which is there until it returns */
async function connected(url: string, onData: (data: Buffer) => void): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const memory = Buffer.alloc(READ);
  const onread = {
    buffer: memory,
    callback: (count: number): boolean => {
      onData(memory.subarray(0, count));
      return true;
    },
  };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', reject);
  });
  return socket;
}

/** Opens a connection; a failure of it fails what was asked. */
export async function openConnection(url: string): Promise<Connection> {
  let asked: Asked | null = null;
  let head: Buffer = NOTHING;
  let ending: Ending | null = null;
  let chunks: Chunks | null = null;
  let status = 0;
  let bytes = 0;
  let firstMs = 0;

  const fail = (error: Error): void => {
    asked?.reject(error);
    asked = null;
  };
  const finish = (): void => {
    const done = asked;
    if (bytes < BEGINNING) firstMs = performance.now() - (done?.since ?? 0);
    asked = null;
    ending = null;
    chunks = null;
    done?.resolve({
      status,
      bytes,
      firstMs,
      totalMs: performance.now() - done.since,
      body: done.kept === null ? NOTHING : Buffer.concat(done.kept),
      found: done.search?.found ?? null,
    });
  };
  const takeBody = (part: Buffer, now: Asked): void => {
    const before = bytes;
    const arrived = performance.now();
    const give = (data: Buffer): void => {
      bytes += data.length;
      if (now.kept !== null) now.kept.push(Buffer.from(data));
      now.search?.take(data);
    };
    if (ending?.length != null) give(part);
    else chunks?.take(part, give);
    if (before < BEGINNING && bytes >= BEGINNING) firstMs = arrived - now.since;
    if (ending?.length == null ? chunks?.done === true : bytes >= ending.length) finish();
  };

  const socket = await connected(url, (data) => {
    if (asked === null) return;
    if (ending !== null) {
      takeBody(data, asked);
      return;
    }
    head = Buffer.concat([head, data]);
    const end = head.indexOf(HEADER_END);
    if (end === -1) return;
    const header = head.toString('latin1', 0, end);
    const part = head.subarray(end + 4);
    head = NOTHING;
    status = Number(header.slice(9, 12));
    bytes = 0;
    try {
      ending = toEnding(header, status);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (ending.length === null) chunks = new Chunks();
    takeBody(part, asked);
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The connection was closed in the middle of an answer.')));

  return {
    ask: (request, { keep = false, look } = {}) =>
      new Promise((resolve, reject) => {
        if (asked !== null) throw new Error('One question at a time.');
        const search = look === undefined ? null : new Search(look);
        asked = { since: performance.now(), kept: keep ? [] : null, search, resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** A request as the bytes that go over the wire. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', connection: 'keep-alive', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const length = method === 'POST' ? `content-length: ${Buffer.byteLength(body)}\r\n` : '';
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`);
}

/** A GraphQL operation as a POST. */
export const operationBytes = (
  query: string,
  variables: object = {},
  headers: Readonly<Record<string, string>> = {},
): Buffer =>
  requestBytes(
    'POST',
    '/graphql',
    { 'content-type': 'application/json', accept: 'application/json', ...headers },
    JSON.stringify({ query, variables }),
  );
