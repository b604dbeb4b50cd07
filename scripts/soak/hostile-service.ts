// A service that answers with what should end a gateway: archives of gigabytes, bodies without end,
// bytes one by one. On loopback.

import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** How it answers every call. */
export type Malice =
  | 'zip'
  | 'lying zip'
  | 'endless json'
  | 'deep json'
  | 'wide json'
  | 'json of members'
  | 'drip';

const MiB = 1024 * 1024;
/**
 * A block of text that deflates by about a hundred and stands alone, so that it can be sent any
 * number of times.
 */
const BLOCK_BYTES = 128 * 1024;
const BLOCK = Buffer.alloc(
  BLOCK_BYTES,
  randomBytes(1_000)
    .toString('latin1')
    .replaceAll(/[^ -~]/g, 'A'),
);
const DEFLATED = deflateRawSync(BLOCK, { finishFlush: constants.Z_FULL_FLUSH });

/** The head of a zip member whose sizes stand behind it, or are claimed to be small. */
function memberHead(name: string, claimed: number | undefined): Buffer {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(claimed === undefined ? 8 : 0, 6);
  head.writeUInt16LE(8, 8);
  if (claimed !== undefined) {
    head.writeUInt32LE(crc32(BLOCK), 14);
    head.writeUInt32LE(DEFLATED.length, 18);
    head.writeUInt32LE(claimed, 22);
  }
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name)]);
}

async function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  if (!response.write(bytes))
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go);
        response.off('close', go);
        resolve();
      };
      response.on('drain', go);
      response.on('close', go);
    });
}

/**
 * A body of 15 MB, below the limit of records and lists, which takes many times that when it is
 * parsed.
 */
async function sendMany(response: ServerResponse, head: string, one: string, tail: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await write(response, Buffer.from(head));
  const block = Buffer.from(one.repeat(MiB / one.length));
  for (let sent = 0; sent < 15 * MiB && !response.closed; sent += block.length) await write(response, block);
  response.write(tail);
}

const SENDERS: Readonly<Record<Malice, (response: ServerResponse, limit: number) => Promise<void>>> = {
  async zip(response, limit) {
    response.writeHead(200, { 'content-type': 'application/zip' });
    await write(response, memberHead('features.json', undefined));
    for (let sent = 0; sent < limit && !response.closed; sent += BLOCK_BYTES) await write(response, DEFLATED);
  },
  async 'lying zip'(response, limit) {
    response.writeHead(200, { 'content-type': 'application/zip' });
    await write(response, memberHead('features.json', 2_000));
    for (let sent = 0; sent < limit && !response.closed; sent += BLOCK_BYTES) await write(response, DEFLATED);
  },
  async 'endless json'(response, limit) {
    response.writeHead(200, { 'content-type': 'application/json' });
    await write(response, Buffer.from('{"sequence":"'));
    const text = Buffer.alloc(MiB, 'A');
    for (let sent = 0; sent < limit && !response.closed; sent += MiB) await write(response, text);
  },
  async 'deep json'(response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    await write(response, Buffer.alloc(4 * MiB, '['));
  },
  'wide json': (response) => sendMany(response, '{"data":{"items":[0', ',[]', ']}}'),
  'json of members': (response) => sendMany(response, '{"a":1', ',"":1', '}'),
  async drip(response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    while (!response.closed) {
      response.write(' ');
      await sleep(50);
    }
  },
};

export interface HostileService {
  readonly url: string;
  /** Changes how it answers. */
  answer(malice: Malice): void;
  /** Bytes of plain text that it sent at most for one call. */
  close(): Promise<void>;
}

/** @param limit - bytes of plain text that one answer is to have at most */
export async function startHostileService(limit = 3 * 1024 * MiB): Promise<HostileService> {
  let malice: Malice = 'zip';
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => undefined);
    void SENDERS[malice](response, limit).then(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer(next) {
      malice = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
