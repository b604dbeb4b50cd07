// Requests of programs that embed the gateway: `gateway.fetch` makes an exchange of each, as the
// listener does, and a Response of its answer.
import { readAtMost } from '../../async/read-at-most.ts';
import { type HttpResponse, isWhole } from '../exchange.ts';
import { toBodyStream } from '../server/body-stream.ts';
import type { AdapterSources } from './socket.ts';

/** Bytes or a stream, as Response takes them. */
function toBodyInit({ body, encoding }: HttpResponse): string | Uint8Array<ArrayBuffer> | null {
  if (typeof body === 'string' && encoding === 'latin1') return new Uint8Array(Buffer.from(body, encoding));
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : null;
}

export function createFetch(sources: AdapterSources): (request: Request) => Promise<Response> {
  const { admit, handle, bodies, telemetry, failures } = sources;
  return async (request) => {
    const { method, signal } = request;
    const { origin, host, pathname: path, search } = new URL(request.url);
    const headers = { host, ...Object.fromEntries(request.headers) };
    const client = { method, url: path + search, path, origin, headers, signal };
    const exchange = await admit(
      { ...client, address: undefined, remoteAddress: undefined },
      async (maxBytes) => {
        const tooLarge = new Error('too large');
        if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return 'too_large';
        return readAtMost(request.body, maxBytes, () => tooLarge).then(bodies.hold, (error: unknown) => {
          if (error === tooLarge) return 'too_large' as const;
          throw error;
        });
      },
    );
    if (exchange === null) throw signal.reason;
    const response = await handle(exchange);
    const { status, headers: all, body } = response;
    let isDisconnected = false;
    const end = (): void => {
      exchange.release();
      if (Buffer.isBuffer(exchange.body)) bodies.release(exchange.body);
      telemetry.end(exchange.record, { status, isDisconnected: isDisconnected || signal.aborted });
    };
    if (isWhole(body)) {
      end();
      return new Response(toBodyInit(response), { status, headers: all });
    }
    const stream = toBodyStream(
      body,
      (error) => {
        isDisconnected = signal.aborted;
        if (!isDisconnected) failures.fail(error, exchange);
      },
      end,
    );
    return new Response(stream, { status, headers: all });
  };
}
