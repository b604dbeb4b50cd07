// A service that sends gigabytes: zip members of any size, honest or not, JSON without end, bodies
// that drip. It writes only as fast as the reader takes, and counts what was taken.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** Where a zip member's data come from. */
export interface Member {
  readonly name: string;
  /** Bytes of the data; those of `block` over and over. */
  readonly size: number;
  readonly block: Buffer;
  /** The size that the header says instead. */
  readonly saidSize?: number;
  /** Not compressed. */
  readonly stored?: boolean;
  /** Sizes behind the data, in a descriptor. */
  readonly streamed?: boolean;
}

const u16 = (...values: number[]): Buffer => Buffer.from(values.flatMap((v) => [v & 255, (v >> 8) & 255]));
const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((v, i) => {
    bytes.writeUInt32LE(v >>> 0, 4 * i);
  });
  return bytes;
};

/** A block that inflates about a hundred times as large as it is, below every limit of ratio. */
export function compressible(bytes: number, text = 'x'): Buffer {
  const block = Buffer.alloc(bytes, text);
  for (let at = 0; at + 64 <= bytes; at += 8192)
    for (let i = 0; i < 40; i += 1) block[at + i] = 65 + ((at * 7 + i * i * 31 + (at >> 5)) % 26);
  return block;
}

/** The pieces of a zip, as they are sent. */
export function* zipPieces(members: readonly Member[]): Generator<Buffer> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, size, block, saidSize, stored = false, streamed = false } of members) {
    const rounds = Math.max(1, Math.floor(size / block.length));
    // Ends at a byte and refers to nothing before it, so that any number of them is one stream.
    const packed = stored ? block : deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH });
    const last = stored ? Buffer.alloc(0) : Buffer.from([3, 0]);
    const compressed = rounds * packed.length + last.length;
    const real = rounds * block.length;
    const crc = size <= 64 * 1024 * 1024 ? computeCrc(block, rounds) : 0;
    const said = saidSize ?? real;
    const flags = streamed ? 8 : 0;
    const head = Buffer.concat([
      u16(20, flags, stored ? 0 : 8, 0, 0),
      streamed ? u32(0, 0, 0) : u32(crc, compressed, said),
      u16(name.length, 0),
    ]);
    directory.push(
      u32(0x02014b50),
      u16(20, 20, flags, stored ? 0 : 8, 0, 0),
      u32(crc, compressed, said),
      u16(name.length, 0, 0, 0, 0),
      u32(0, offset),
      Buffer.from(name),
    );
    const first = Buffer.concat([u32(0x04034b50), head, Buffer.from(name)]);
    yield first;
    for (let round = 0; round < rounds; round += 1) yield packed;
    yield last;
    const behind = streamed ? u32(0x08074b50, crc, compressed, real) : Buffer.alloc(0);
    yield behind;
    offset += first.length + compressed + behind.length;
  }
  const list = Buffer.concat(directory);
  yield list;
  yield Buffer.concat([
    u32(0x06054b50),
    u16(0, 0, members.length, members.length),
    u32(list.length, offset),
    u16(0),
  ]);
}

function computeCrc(block: Buffer, rounds: number): number {
  let crc = 0;
  for (let round = 0; round < rounds; round += 1) crc = crc32(block, crc);
  return crc;
}

export interface Hostile {
  readonly url: string;
  /** Bytes that readers took so far, all answers together. */
  readonly sent: number;
  /** Connections that are open. */
  readonly open: number;
  /** Paths that were asked for. */
  readonly seen: readonly string[];
  /** How each path that ends so is answered. */
  answer(ending: string, script: (response: ServerResponse, path: string) => void): void;
  reset(): void;
  close(): Promise<void>;
}

/**
 * Sends pieces as they are taken, over and over where they never end; stops when the reader leaves.
 */
export async function pour(response: ServerResponse, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece))
      await new Promise<void>((resolve) => {
        const go = (): void => {
          response.off('drain', go).off('close', go);
          resolve();
        };
        response.on('drain', go).on('close', go);
      });
    else await new Promise<void>((resolve) => setImmediate(resolve));
  }
  response.end();
}

export async function openHostile(): Promise<Hostile> {
  const scripts = new Map<string, (response: ServerResponse, path: string) => void>();
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  let before = 0;
  const taken = (): number => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, before);
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    seen.push(path);
    response.on('error', () => undefined);
    request.resume();
    request.on('end', () => {
      const found = [...scripts].find(([ending]) => path.endsWith(ending));
      if (found !== undefined) found[1](response, path);
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"not here"}');
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      before += socket.bytesWritten;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get sent() {
      return taken();
    },
    get open() {
      return sockets.size;
    },
    seen,
    answer: (ending, script) => scripts.set(ending, script),
    reset() {
      scripts.clear();
      seen.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
