// A stand-in of the bulk endpoint whose archives come as a test wants them: in whatever pieces, with gaps and damage, held back or broken off;
// and a gateway in front of it, reached over a socket.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createHttpServer } from '../../src/http/limits/http-server.ts';
import { testLogger } from '../record.ts';
import { openSender } from '../transport.ts';

const COUNT = 80;
const pdbOf = (hash: string) =>
  Array.from(
    { length: 30 },
    (_, i) => `REMARK ${hash} "${Math.imul(i + 7, Number.parseInt(hash.slice(-6), 16))}" \\ Å\n`,
  ).join('');
/** Eighty hashes that no other number gives. */
export const hashesOf = (from: number) =>
  Array.from({ length: COUNT }, (_, i) => (from * 1000 + i).toString(16).padStart(32, '0'));

/** Sends an archive. */
type Send = (response: ServerResponse, archive: Buffer) => Promise<unknown> | undefined;
const atOnce: Send = (response, archive) => void response.end(archive);

/** What is asked of each item of a look-up, and what comes of hashes that the service knows. */
export const ITEM =
  '{ requested problem { __typename message } protein { hash structure(plddtScale: UNIT) { text } } }';
export const expected = (ids: readonly string[]) =>
  ids.map((hash) => ({
    requested: hash,
    problem: null,
    protein: { hash, structure: { text: pdbOf(hash) } },
  }));

/** A gate that is opened by hand. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Where the entry of a structure begins. */
const placeOf = (archive: Buffer, hash: string): number => archive.indexOf(`structures/${hash}.pdb`) - 30;

/** Sends what stands before an entry, then waits. */
export const heldBefore =
  (hash: string, opened: Promise<unknown>): Send =>
  async (response, archive) => {
    const at = placeOf(archive, hash);
    response.write(archive.subarray(0, at));
    await opened;
    response.end(archive.subarray(at));
  };

/** Sends what stands before an entry, then breaks the connection. */
export const brokenBefore =
  (hash: string): Send =>
  async (response, archive) => {
    response.write(archive.subarray(0, placeOf(archive, hash)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    response.destroy();
  };

/** Sends what stands before each of some places by itself. */
export const cutAt =
  (cuts: readonly number[]): Send =>
  async (response, archive) => {
    let from = 0;
    for (const cut of [...cuts].sort((one, other) => one - other)) {
      response.write(archive.subarray(from, cut));
      from = Math.max(from, cut);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end(archive.subarray(from));
  };

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;
export const listening = async (server: Server): Promise<Server> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
export const closed = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
};

/** Starts the service. */
export async function openService() {
  const service = {
    send: atOnce,
    /** Hashes that it does not know, and whose entries are damaged. */
    unknown: new Set<string>() as ReadonlySet<string>,
    damaged: new Set<string>() as ReadonlySet<string>,
    calls: 0,
    /** Archives of which nobody takes any more. */
    broken: 0,
    /** Lines that gateways have logged. */
    lines: [] as string[],
    /** Makes it ordinary again. */
    reset() {
      service.send = atOnce;
      service.unknown = new Set();
      service.damaged = new Set();
      service.calls = 0;
      service.broken = 0;
      service.lines.length = 0;
    },
    close: () => closed(server),
    /** Opens a gateway. */
    async gateway(env: Record<string, string> = {}, pulseMs?: number) {
      const gateway: Gateway = createGateway({
        config: readConfig({
          STORE_URL: 'memory:',
          MAX_EVENT_LOOP_DELAY_MS: '0',
          CACHE_RECORDS_SECONDS: '0',
          MAX_CALL_RETRIES: '0',
          ...env,
        }),
        upstreamUrl: `http://127.0.0.1:${portOf(server)}`,
        log: testLogger((line) => void service.lines.push(line)),
        ...(pulseMs === undefined ? {} : { pulseMs }),
      });
      const served = await listening(
        createHttpServer(gateway, { maxHeaderBytes: 16_384, slowReaderMs: 30_000 }),
      );
      const sender = openSender(async () => portOf(served));
      return {
        gateway,
        sender,
        url: `http://127.0.0.1:${portOf(served)}/graphql`,
        async close() {
          sender.close();
          await gateway.close();
          await closed(served);
        },
      };
    },
  };
  function archiveOf(hashes: readonly string[]): Buffer {
    const { unknown, damaged } = service;
    const there = [...new Set(hashes)].filter((hash) => !unknown.has(hash));
    const files = there.map((hash): [string, Uint8Array] => [
      `structures/${hash}.pdb`,
      Buffer.from(pdbOf(hash)),
    ]);
    const whole = there.filter((hash) => !damaged.has(hash));
    const fasta = Buffer.from(whole.map((hash) => `>${hash}||\nMKV\n`).join(''));
    const archive = Buffer.from(zipSync(Object.fromEntries([...files, ['sequences.fasta', fasta]])));
    for (const hash of there.filter((one) => damaged.has(one))) {
      const at = placeOf(archive, hash) + 100;
      archive[at] = (archive[at] ?? 0) ^ 0xff;
    }
    return archive;
  }
  const server = await listening(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      service.calls += 1;
      if (request.method === 'GET') {
        // Of what an archive lost there is no record, either.
        response.writeHead(422, { 'content-type': 'application/json' });
        return void response.end('{"detail": "The record cannot be read."}');
      }
      const { protein_hashes: wanted } = JSON.parse(body) as { protein_hashes: string[] };
      response.once('close', () => {
        if (!response.writableFinished) service.broken += 1;
      });
      response.writeHead(200, { 'content-type': 'application/zip' });
      await service.send(response, archiveOf(wanted));
    }),
  );
  return service;
}
export type Service = Awaited<ReturnType<typeof openService>>;

/** An answer as it comes. */
export function reading(response: Response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    /** Reads until something has come. @returns whether it has, before the end */
    async until(part: string): Promise<boolean> {
      while (!text.includes(part)) {
        const next = await reader?.read();
        if (next === undefined || next.done) return false;
        text += decoder.decode(next.value, { stream: true });
      }
      return true;
    },
    async rest(): Promise<string> {
      await this.until('\0');
      return text;
    },
    leave: () => reader?.cancel(),
  };
}

/** A list of what identifiers there may be, and what a service makes of them. */
type Kind = 'good' | 'again' | 'unknown' | 'damaged' | 'none';
const KINDS: readonly Kind[] = ['good', 'good', 'good', 'again', 'unknown', 'damaged', 'none'];
export const lists = fc.array(fc.constantFrom(...KINDS), { minLength: 60, maxLength: 90 });
/** Where archives are cut. */
export const places = fc.array(fc.nat(6000), { maxLength: 12 });

/** Identifiers of some kinds, which the service is told of. @param run - a number for each list */
export function prepared(service: Service, list: readonly Kind[], run: number): string[] {
  const known = list.map((_, i) => (run * 1000 + i).toString(16).padStart(32, '0'));
  const at = (kind: Kind) => known.filter((_, i) => list[i] === kind);
  service.unknown = new Set(at('unknown'));
  service.damaged = new Set(at('damaged'));
  return list.map((kind, i) =>
    kind === 'none' ? `no id ${i}` : ((kind === 'again' ? known[i >> 1] : known[i]) ?? ''),
  );
}

export const asked = (ids: readonly string[], query: string, headers: Record<string, string> = {}) =>
  new Request('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables: { ids } }),
  });

/** The order of errors apart: those of one moment have none. */
export const inOrder = (errors: readonly object[] = []) =>
  errors.map((error) => JSON.stringify(error)).sort();
