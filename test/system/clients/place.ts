// Where the clients of these tests ask: a gateway on a real port, with WebSocket, over a sandbox
// whose calls are counted.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachWebSocket } from '../../../src/http/websocket/server.ts';
import { openWorld, type World } from '../../support.ts';

export const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
export const TOKEN = { authorization: 'Bearer clients' };

export interface Place {
  readonly world: World;
  readonly url: string;
  /** Requests as they came, oldest first. */
  readonly requests: { readonly method: string; readonly url: string }[];
  /** Stops what listens, and listens again on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the place. @param env - settings of the gateway */
export async function openPlace(env: Record<string, string> = {}): Promise<Place> {
  const world = await openWorld(env, { speed: 50, control: true });
  const requests: Place['requests'] = [];
  const listen = async (port: number) => {
    const server = createServer((req, res) => {
      requests.push({ method: req.method ?? '', url: req.url ?? '' });
      return world.gateway.listener(req, res);
    });
    const sockets = attachWebSocket(server, world.gateway, {
      origins: [],
      maxBytes: 1_000_000,
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return { server, sockets, port: (server.address() as AddressInfo).port };
  };
  let here = await listen(0);
  const stop = async () => {
    await here.sockets.close();
    here.server.closeAllConnections();
    await new Promise((resolve) => here.server.close(resolve));
  };
  return {
    world,
    url: `http://127.0.0.1:${here.port}/graphql`,
    requests,
    async restart() {
      await stop();
      here = await listen(here.port);
    },
    async close() {
      await stop();
      await world.close();
    },
  };
}

/** A submission of one small peptide, and what to select of it. */
export const SUBMIT = `mutation Submit($input: SubmitFoldInput!) {
  submitFold(input: $input) {
    __typename
    ... on FoldSubmitted { batch { __typename id batchId counts { total } } }
    ... on Problem { message }
    ... on InvalidInput { issues { path message } }
  }
}`;
export const FOLD = {
  input: { items: [{ name: 'peptide', chains: [{ protein: { sequence: 'GIVEQCCTSIC' } }] }] },
};

/** A batch as it moves, short. */
export const WATCH = `subscription Watch($id: ID!) {
  batchProgress(batchId: $id) { sequence final batch { __typename id batchId counts { total done } } }
}`;
