// Clients of streams for tests: a gateway on a real port, Server-Sent Events read event by event,
// batches to watch.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../../src/gateway.ts';
import {
  attachWebSocket,
  type SocketServer,
  type WebSocketOptions,
} from '../../src/http/websocket/server.ts';
import { type Answer, at } from '../support.ts';
import { ask } from './support.ts';

export const TOKEN = { authorization: 'Bearer live-test' };

export interface Served {
  readonly url: string;
  readonly server: Server;
  readonly sockets: SocketServer;
  close(): Promise<void>;
}

/** Puts a gateway on a free port of loopback, with WebSocket. */
export async function serve(
  gateway: Gateway,
  origins: readonly string[] = [],
  more: Partial<WebSocketOptions> = {},
): Promise<Served> {
  const server = createServer(gateway.listener);
  const sockets = attachWebSocket(server, gateway, {
    origins,
    maxBytes: 1_000_000,
    ...more,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  return {
    url,
    server,
    sockets,
    async close() {
      await sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One event of a stream; `ping` is a comment. */
export type StreamEvent =
  | { readonly kind: 'next'; readonly answer: Answer }
  | { readonly kind: 'complete' | 'ping' };

/** Reads Server-Sent Events as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (response.body === null) throw new Error('a stream without a body');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name === 'next')
        yield { kind: 'next', answer: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Answer };
      else if (name === 'complete') yield { kind: 'complete' };
      else if (block.startsWith(':')) yield { kind: 'ping' };
      else throw new Error(`unreadable event ${block}`);
    }
  }
}

/** The answers of a stream until it completes. @throws when it breaks off */
export async function* answersOf(response: Response): AsyncGenerator<Answer> {
  for await (const event of eventsOf(response)) {
    if (event.kind === 'complete') return;
    if (event.kind === 'next') yield event.answer;
  }
  throw new Error('the stream broke off');
}

/** Opens a subscription as Server-Sent Events by POST. */
export const subscribe = (
  fetcher: (request: Request) => Promise<Response>,
  query: string,
  variables: Record<string, unknown>,
  init: { headers?: Record<string, string>; signal?: AbortSignal; url?: string } = {},
): Promise<Response> =>
  fetcher(
    new Request(init.url ?? 'http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...TOKEN, ...init.headers },
      body: JSON.stringify({ query, variables }),
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    }),
  );

/** Submits a batch of short peptides, each different. @returns its id */
export async function submit(
  gateway: Gateway,
  tasks: number,
  headers: Record<string, string> = TOKEN,
): Promise<string> {
  const items = Array.from({ length: tasks }, (_, i) => ({
    name: `peptide ${i}`,
    chains: [
      { protein: { sequence: `MKTAYIAK${'ACDEFGHIKL'[i % 10]}${'MNPQRSTVWY'[Math.floor(i / 10) % 10]}` } },
    ],
  }));
  const { data, errors } = await ask(
    gateway,
    'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId } } ... on Problem { message } } }',
    { input: { items } },
    headers,
  );
  const id = at(data, 'submitFold.batch.batchId');
  if (typeof id !== 'string') throw new Error(JSON.stringify({ data, errors }));
  return id;
}
