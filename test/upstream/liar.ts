// A service that can be made to misbehave: a real HTTP server whose every operation a test may
// script down to the socket. What is not scripted answers honestly, with as little as the contract
// allows.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { GatewayOptions } from '../../src/gateway/services.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import type { Answer } from '../support.ts';
import { reached } from '../transport.ts';

export const HASH = '12e9c9e4e2835c302e8ba615115edda3';
/** The sequence that has this hash. */
export const SEQUENCE =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN';
export const TOKEN = 'token-of-a-caller';

/** The handler of an operation. */
export type Script = (call: {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}) => void;

export interface SeenRequest {
  readonly operation: string;
  readonly method: string;
  /** With the query, as it came. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Liar {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Connections that were closed before their answer was whole, by operation. */
  readonly closed: string[];
  script(operation: string, script: Script): void;
  /** All operations are honest again, and nothing was seen. */
  reset(): void;
  close(): Promise<void>;
}

const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^\/api\/v1\/batch\/(submit|list|status|cancel)$/, '$1'],
  [/v1alpha1\/features$/, 'features'],
  [/v1alpha1\/features\//, 'feature'],
  [/v1alpha1\/clusters\//, 'cluster'],
  [/v1alpha1\/proteins\/batch$/, 'bulk'],
  [/v1alpha1\/proteins\/batch\/jobs\//, 'bulkJob'],
  [/v1alpha1\/proteins\/[^/]*\/thumbnail\//, 'thumbnail'],
  [/v1alpha1\/proteins\//, 'protein'],
  [/v1alpha1\/uniprot\//, 'uniprot'],
  [/v1alpha1\/similarity-search$/, 'similarity'],
  [/^\/files\//, 'file'],
];

function findOperation(path: string): string {
  for (const [pattern, name] of ROUTES) {
    const found = pattern.exec(path);
    if (found !== null) return name.replace('$1', found[1] ?? '');
  }
  return 'unknown';
}

/** An answer of JSON, or of a text as it is. */
export const says =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  ({ response }) => {
    const type = typeof body === 'string' ? 'text/html' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Bytes as they are. */
export const sends =
  (bytes: Uint8Array, headers: Record<string, string> = {}, status = 200): Script =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(bytes);
  };

/** Never answers. */
export const hangs: Script = () => undefined;

/** A script for each time it is asked; the last one stays. */
export const inTurn = (...scripts: readonly Script[]): Script => {
  let next = 0;
  return (call) => {
    const script = scripts[Math.min(next, scripts.length - 1)];
    next += 1;
    script?.(call);
  };
};

const inEnvelope = (data: unknown) => ({ status: 'success', data, request_id: 'req-1' });

const HONEST: Readonly<Record<string, Script>> = {
  uniprot: says(200, { accession: 'P01308', protein_name: 'Insulin', protein_hash: HASH }),
  protein: says(200, { protein_hash: HASH, sequence: SEQUENCE, sequence_length: SEQUENCE.length }),
  submit: says(200, inEnvelope({ message: 'queued', batch_id: 'b1', total_items: 1, task_id: 'b1-00000' })),
  list: says(
    200,
    inEnvelope({ batch_id: 'b1', status: 'in_progress', counts: { queued: 1 }, items: [], cursor: null }),
  ),
  status: says(200, inEnvelope({ status: 'queued' })),
  cancel: says(200, inEnvelope({ message: 'cancelled', cancelled: 1 })),
};

/** Starts one. @param port - 0: any that is free */
export async function openLiar(port = 0): Promise<Liar> {
  const scripts = new Map<string, Script>();
  const seen: SeenRequest[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const url = request.url ?? '';
    const operation = findOperation(url.split('?')[0] ?? '');
    response.on('error', () => undefined);
    response.on('close', () => {
      if (!response.writableFinished) closed.push(operation);
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ operation, method: request.method ?? '', url, headers: request.headers, body });
      const script = scripts.get(operation) ?? HONEST[operation] ?? says(404, { detail: 'not here' });
      script({ request, response, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    seen,
    closed,
    script: (operation, script) => scripts.set(operation, script),
    reset() {
      scripts.clear();
      seen.length = 0;
      closed.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Place {
  readonly gateway: Gateway;
  query(
    query: string,
    variables?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
}

/** A gateway over an upstream, with nothing kept between requests. */
export function openPlace(
  upstreamUrl: string,
  env: Record<string, string> = {},
  more: Partial<GatewayOptions> = {},
): Place {
  const config = readConfig({
    STORE_URL: 'memory:',
    LOG_LEVEL: 'silent',
    CACHE_RECORDS_SECONDS: '0',
    ...env,
  });
  const gateway = reached(
    createGateway({
      config,
      upstreamUrl,
      log: testLogger(),
      // Whether an operation is still tried is tested where it is meant; elsewhere each case stands
      // for itself.
      breaker: { failures: 1_000_000, first: 1, longest: 1 },
      ...more,
      limits: { responseCacheBytes: 0, ...more.limits },
    }),
  );
  const authorization = `Bearer ${TOKEN}`;
  return {
    gateway,
    async query(query, variables = {}, headers = {}) {
      const response = await gateway.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization, ...headers },
          body: JSON.stringify({ query, variables }),
        }),
      );
      return (await response.json()) as Answer;
    },
    get: (path, headers = {}) =>
      gateway.fetch(new Request(`http://gateway.test${path}`, { headers: { authorization, ...headers } })),
  };
}

/**
 * A liar and a gateway over it for the tests of a file. The liar is honest again before each test.
 */
export async function openLyingPlace(
  env: Record<string, string> = {},
  more: Partial<GatewayOptions> = {},
): Promise<{ readonly liar: Liar; readonly place: Place }> {
  const liar = await openLiar();
  const place = openPlace(liar.url, env, more);
  beforeEach(() => liar.reset());
  afterAll(async () => {
    await place.gateway.close();
    await liar.close();
  });
  return { liar, place };
}
