// The load of a soak: every kind of client at once, the good, the slow and the bad, while the
// upstream fails now and then. It counts what is answered and judges nothing.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { Agent, fetch, type Response } from 'undici';
import WebSocket from 'ws';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import { readExamples } from '../../src/http/pages/examples.ts';

export interface Load {
  /** How often which status, which code and which trouble was met. */
  readonly seen: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const AUTH = { authorization: 'Bearer soak-test' };
const HASHES = REFERENCE_PROTEINS.map(({ md5 }) => md5);
const WATCH = 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final } }';
const FAULTS: readonly Record<string, unknown>[] = [
  { operation: '*', status: 503, times: 20 },
  { operation: 'protein', delay_ms: 900, times: 20 },
  { operation: 'bulk', spoil: 'truncate', times: 8 },
  { operation: '*', spoil: 'reset', times: 10 },
  { operation: 'uniprot', status: 429, headers: { 'retry-after': '1' }, times: 2 },
  { operation: 'list', spoil: 'garbage', times: 5 },
  { operation: 'download', spoil: 'drip', drip_bytes: 512, drip_ms: 5, times: 3 },
  { operation: 'submit', status: 500, times: 2 },
];

/** Begins; every client goes on until `stop`. */
export function startLoad(url: string, sandboxUrl: string): Load {
  const seen = new Map<string, number>();
  const count = (what: string): void => {
    seen.set(what, (seen.get(what) ?? 0) + 1);
  };
  const ending = new AbortController();
  const { signal } = ending;
  const endpoint = `${url}/graphql`;
  /**
   * Closed with the load: idle connections of the clients are none that the gateway leaves open.
   */
  const dispatcher = new Agent();
  let turn = 0;
  const next = <T>(list: readonly T[], otherwise: T): T => {
    turn += 1;
    return list[turn % list.length] ?? otherwise;
  };
  const hash = (): string => next(HASHES, '');

  const send = (body: string, headers: Record<string, string> = {}, leave?: AbortSignal): Promise<Response> =>
    fetch(endpoint, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...AUTH, ...headers },
      body,
      ...(leave === undefined ? {} : { signal: leave }),
    });
  async function ask(query: string, variables: Record<string, unknown> = {}): Promise<unknown> {
    const answer = await send(JSON.stringify({ query, variables }));
    count(`status ${answer.status}`);
    const text = await answer.text();
    for (const [, code] of text.matchAll(/"code":"([A-Z_]+)"/g)) count(`code ${code}`);
    return JSON.parse(text);
  }
  const batchIdIn = (answer: unknown): string | undefined =>
    /"batchId":"([^"]+)"/.exec(JSON.stringify(answer))?.[1];
  const submit = async (): Promise<string | undefined> => {
    const input = { items: [{ chains: [{ protein: { sequence: 'GIVEQCCTSICSLYQLENYCN' } }] }] };
    return batchIdIn(
      await ask(
        'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId } } ... on Problem { message } } }',
        { input },
      ),
    );
  };

  const examples = readExamples().filter(({ kind }) => kind !== 'subscription');
  const clients: Record<string, () => Promise<void>> = {
    async examples() {
      const { query, variables } = next<{ query: string; variables: string | null }>(examples, {
        query: '{ __typename }',
        variables: null,
      });
      await ask(query, JSON.parse(variables ?? '{}'));
    },
    async reads() {
      const list = Array.from({ length: 12 }, hash);
      await ask(
        'query($list: [ProteinHash!]!) { proteins(hashes: $list) { name length cluster { size } features(first: 3) { value } } }',
        { list },
      );
    },
    async 'watchers by events'() {
      const id = await submit();
      if (id === undefined) return;
      const answer = await send(JSON.stringify({ query: WATCH, variables: { id } }), {
        accept: 'text/event-stream',
      });
      const text = await answer.text();
      count(text.includes('event: complete') ? 'stream completed' : 'stream broken');
    },
    async 'watchers by sockets'() {
      const id = await submit();
      if (id === undefined) return;
      const client = createClient({
        url: endpoint.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        connectionParams: { Authorization: AUTH.authorization },
        retryAttempts: 0,
      });
      for await (const _ of client.iterate({ query: WATCH, variables: { id } })) count('event by socket');
      await client.dispose();
    },
    async downloads() {
      const paths = [
        `/structures/${hash()}.cif`,
        `/structures/${hash()}.pdb`,
        `/thumbnails/${hash()}/plddt.png`,
      ];
      const answer = await fetch(url + next(paths, ''), { dispatcher });
      count(`status ${answer.status}`);
      await answer.arrayBuffer();
    },
    async 'clients that leave'() {
      const leave = AbortSignal.timeout(15 + ((turn * 37) % 200));
      const query = `{ protein(hash: "${hash()}") { name structure { text } similar(first: 5) { hits { score } } } }`;
      await send(JSON.stringify({ query }), {}, leave).then((answer) => answer.text());
    },
    async 'slow readers'() {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => count('slow reader cut off'));
      socket.write(`GET /structures/${hash()}.cif HTTP/1.1\r\nhost: soak\r\nconnection: close\r\n\r\n`);
      socket.pause();
      await sleep(2_000, undefined, { signal }).catch(() => undefined);
      socket.destroy();
    },
    async 'bad input'() {
      const bodies = [
        '{',
        '[]',
        '{"query":"{"}',
        '{"query":"{ nothing }"}',
        '{"query":"{ protein(hash: \\"x\\") { name } }"}',
        'x'.repeat(5000),
      ];
      const answer = await send(next(bodies, ''));
      count(`status ${answer.status}`);
      if ((await answer.text()).includes('INTERNAL_SERVER_ERROR')) count('code INTERNAL_SERVER_ERROR');
    },
  };

  async function goOn(name: string, client: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await client();
        count(`${name}: through`);
      } catch {
        count(`${name}: left or cut off`);
      }
      await sleep(20);
    }
  }
  async function faults(): Promise<void> {
    for (let i = 0; !signal.aborted; i += 1) {
      await sleep(1_500, undefined, { signal }).catch(() => undefined);
      await fetch(`${sandboxUrl}/control/faults`, { method: 'DELETE' });
      if (signal.aborted) return;
      // One time of three the upstream is well.
      if (i % 3 === 2) continue;
      await fetch(`${sandboxUrl}/control/faults`, {
        method: 'POST',
        body: JSON.stringify(FAULTS[i % FAULTS.length]),
      });
    }
  }
  const crowd = [...Object.entries(clients), ...Object.entries(clients)];
  const running = [...crowd.map(([name, client]) => goOn(name, client)), faults()];
  return {
    seen,
    async stop() {
      ending.abort();
      await Promise.race([Promise.all(running), sleep(20_000)]);
      await dispatcher.destroy();
    },
  };
}
