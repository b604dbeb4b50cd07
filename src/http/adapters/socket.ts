// Requests over sockets: the listener of node:http makes an exchange of each, and sends the
// response at the pace of its client.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '../../telemetry/log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Admit } from '../access/admit.ts';
import { type Answer, type Exchange, type HttpResponse, isWhole } from '../exchange.ts';
import type { Failures } from '../failures/failures.ts';
import { sendPieces } from '../server/body-stream.ts';
import { destroyResponse, refuseTarget } from '../server/http-server.ts';
import type { BodyReader } from '../server/read-body.ts';
import { normalizeTarget, requestPath } from '../server/request-target.ts';

export interface AdapterSources {
  readonly admit: Admit;
  readonly handle: Answer;
  readonly bodies: BodyReader;
  readonly telemetry: Telemetry;
  readonly failures: Failures;
}

export interface ListenerSources extends AdapterSources {
  readonly log: Logger;
  readonly accessControl: Pick<AccessControl, 'clientAddress'>;
}

export function createListener(sources: ListenerSources): RequestListener {
  const { admit, handle, bodies, telemetry, failures, log, accessControl } = sources;

  async function send(
    connection: ServerResponse,
    exchange: Exchange,
    { status, headers, body, encoding }: HttpResponse,
  ): Promise<void> {
    connection.writeHead(status, headers);
    if (isWhole(body)) return void connection.end(body, encoding ?? 'utf8');
    await sendPieces(connection, body, (error) => failures.fail(error, exchange));
  }

  async function serve(incoming: IncomingMessage, connection: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers, socket } = incoming;
    const { host = `localhost:${socket.localPort}` } = headers;
    const controller = new AbortController();
    const request = {
      method,
      url,
      path: requestPath({ url }),
      origin: `http://${host}`,
      headers,
      address: accessControl.clientAddress(incoming),
      remoteAddress: socket.remoteAddress,
      signal: controller.signal,
    };
    const exchange = await admit(request, (maxBytes) => bodies.read(incoming, maxBytes));
    if (exchange === null) return;
    const bytesBefore = socket.bytesWritten;
    const end = (): void => {
      exchange.release();
      if (Buffer.isBuffer(exchange.body)) bodies.release(exchange.body);
      const bytes = socket.bytesWritten - bytesBefore;
      const isDisconnected = !connection.writableFinished;
      telemetry.end(exchange.record, { status: connection.statusCode, bytes, isDisconnected });
    };
    if (connection.closed) return end();
    connection.once('close', () => {
      // First: the end of its record lets go of its signal.
      if (!connection.writableFinished) controller.abort();
      process.nextTick(end);
    });
    const response = await handle(exchange);
    if (!connection.closed) await send(connection, exchange, response);
  }

  return (incoming, connection) => {
    if (!normalizeTarget(incoming)) return refuseTarget(connection);
    serve(incoming, connection).catch((error: unknown) => {
      if (connection.closed) return;
      log.error({ error }, 'request');
      destroyResponse(connection);
    });
  };
}
