// A fetch handler behind a node HTTP server with bounded patience, and how to end it.
import { createServer, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';

interface Listening {
  /** Base URL without a slash at its end. */
  readonly url: string;
  /** Ends open connections too. */
  close(): Promise<void>;
}

const TIMEOUTS = {
  /** A client has this long to send its headers ... */
  headersTimeout: 15_000,
  /** ... and this long for the whole request. */
  requestTimeout: 120_000,
  /** Longer than clients keep idle connections, so that none is closed under a request. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

const isHttp1 = (bindings: HttpBindings | Http2Bindings): bindings is HttpBindings =>
  bindings.incoming instanceof IncomingMessage;

const isAddress = (value: AddressInfo | string | null): value is AddressInfo =>
  typeof value === 'object' && value !== null;

/**
 * @param headers stand in every answer
 * @throws Error when the address cannot be listened on
 */
export async function listen(
  handler: (request: Request, bindings: HttpBindings) => Response | Promise<Response>,
  { host, port, headers }: { host: string; port: number; headers: Record<string, string> },
): Promise<Listening> {
  const listener = getRequestListener(
    (request, bindings) => {
      if (!isHttp1(bindings)) throw new Error('only HTTP/1.1 is spoken here');
      for (const [name, value] of Object.entries(headers)) bindings.outgoing.setHeader(name, value);
      return handler(request, bindings);
    },
    // A program that embeds the sandbox keeps its own Request and Response.
    { overrideGlobalObjects: false },
  );
  const server = createServer(TIMEOUTS, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `Port ${port} is taken: stop what listens there, or set SANDBOX_PORT to another one.`;
      reject(error.code === 'EADDRINUSE' ? new Error(taken) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (!isAddress(address)) throw new Error('the server has no port');
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    async close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await ended;
    },
  };
}
