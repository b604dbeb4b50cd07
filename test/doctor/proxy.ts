// A real server on loopback in front of the sandbox that changes what it answers, as a deployment
// does overnight.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passing {
  status: number;
  type: string;
  body: Buffer;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Changes an answer; the path of the question tells which it is. */
export type Change = (answer: Passing, question: Question) => void;

export interface ChangingProxy {
  readonly url: string;
  /** From now on. */
  change(change: Change | undefined): void;
  /** Paths are changed on their way to the sandbox. */
  reroute(route: ((path: string) => string) | undefined): void;
  close(): Promise<void>;
}

const DELETED = { status: 204, type: '', body: Buffer.alloc(0), kept: {} };
const KEPT = ['cache-control', 'retry-after', 'x-request-id'];

const CATALOGUE = /\/features$/;
/** Each doctor reads all rows of the catalogue strictly: a few rows show as much as all. */
const CATALOGUE_ROWS = 20;

function cutCatalogue(json: Buffer): Buffer {
  const { data }: { readonly data: readonly unknown[] } = JSON.parse(json.toString());
  return Buffer.from(JSON.stringify({ data: data.slice(0, CATALOGUE_ROWS) }));
}

/**
 * Starts the proxy.
 *
 * @param isRecorded - whether an answer is asked for once, and given again before it is changed, so
 * that hundreds of answers cost what a few do. Jobs that go on are asked for again, nothing is
 * deleted, and the catalogue has its first rows alone.
 */
export async function openProxy(target: string, isRecorded = false): Promise<ChangingProxy> {
  const records = new Map<string, Passing & { readonly kept: Record<string, string> }>();
  let change: Change | undefined;
  let route: ((path: string) => string) | undefined;
  async function pass(method: string, path: string, headers: IncomingHttpHeaders, sent: Buffer) {
    const passed = await fetch(target + path, {
      method,
      headers: Object.fromEntries(
        ['authorization', 'content-type', 'accept'].flatMap((name) => {
          const value = headers[name];
          return typeof value === 'string' ? [[name, value]] : [];
        }),
      ),
      ...(sent.length === 0 ? {} : { body: new Uint8Array(sent) }),
    });
    const kept = KEPT.flatMap((name) => {
      const value = passed.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    const body = Buffer.from(await passed.arrayBuffer());
    return {
      status: passed.status,
      type: passed.headers.get('content-type') ?? '',
      body: isRecorded && passed.ok && CATALOGUE.test(path) ? cutCatalogue(body) : body,
      kept: Object.fromEntries(kept),
    };
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const sent = Buffer.concat(chunks);
    const { method = 'GET', url = '/', headers } = request;
    const path = route?.(url) ?? url;
    const key = `${method} ${path} ${headers.authorization} ${sent}`;
    const isDeletion = isRecorded && method === 'DELETE';
    const recorded = records.get(key) ?? (isDeletion ? DELETED : await pass(method, path, headers, sent));
    if (isRecorded && (method !== 'GET' || recorded.status !== 202)) records.set(key, recorded);
    const answer: Passing = { ...recorded };
    change?.(answer, { method, path: url, body: sent.toString() });
    const empty = answer.status === 204;
    response.writeHead(answer.status, {
      ...recorded.kept,
      ...(empty ? {} : { 'content-type': answer.type, 'content-length': String(answer.body.length) }),
    });
    response.end(empty ? undefined : answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    change(next) {
      change = next;
    },
    reroute(next) {
      route = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Changes every object of a JSON answer whose path matches. */
export const inJson =
  (paths: RegExp, edit: (fields: Fields) => void): Change =>
  (answer, { path }) => {
    if (!paths.test(path) || !answer.type.includes('json') || answer.body.length === 0) return;
    const body: unknown = JSON.parse(answer.body.toString());
    const walk = (value: unknown): void => {
      if (Array.isArray(value)) for (const item of value) walk(item);
      else if (isFields(value)) {
        edit(value);
        for (const item of Object.values(value)) walk(item);
      }
    };
    walk(body);
    answer.body = Buffer.from(JSON.stringify(body));
  };

/** Renames a key wherever it stands. */
export const renamedKey = (paths: RegExp, from: string, to: string): Change =>
  inJson(paths, (fields) => {
    if (!Object.hasOwn(fields, from)) return;
    fields[to] = fields[from];
    delete fields[from];
  });
