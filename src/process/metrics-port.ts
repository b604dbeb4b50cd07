// /metrics on a port of its own, for a network that only Prometheus reaches.
import { createServer } from 'node:http';
import { refuseMetrics } from '../http/auth/shared-secrets.ts';
import { closeServer, listen } from './serve.ts';

export interface MetricsPortOptions {
  readonly port: number;
  readonly host: string;
  readonly token: string | undefined;
  readonly read: () => Promise<string>;
}

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';
const CLOSE_MS = 1_000;

/** Opens the port. @returns closes it @throws Error with a sentence on why it cannot */
export async function openMetricsPort({ port, host, token, read }: MetricsPortOptions) {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, async (request, response) => {
    const tell = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
    if (request.url?.split('?')[0] !== '/metrics')
      return tell(404, PLAIN, 'There is nothing but /metrics.\n');
    const header = (name: string) => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : null;
    };
    if (refuseMetrics({ token, open: true }, header, request.socket.remoteAddress) !== undefined)
      return tell(401, PLAIN, 'The metrics need their own token: `Authorization: Bearer <METRICS_TOKEN>`.\n');
    try {
      return tell(200, TYPE, await read());
    } catch {
      return tell(503, PLAIN, 'The metrics cannot be read at present.\n');
    }
  });
  const url = await listen(server, port, host);
  return { url, close: () => closeServer(server, CLOSE_MS) };
}
