// How the attacks send: GraphQL by HTTP, raw bytes over a socket, WebSockets. Every connection is
// closed by the end of its attack.

import { request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly text: string;
}

export interface PostOptions {
  readonly token?: string | undefined;
  /** Leaves after so many milliseconds. */
  readonly leaveMs?: number;
}

/** Milliseconds after which an attack gives up waiting for an answer. */
const PATIENCE_MS = 90_000;
/** The part of an answer that is kept; more is counted and dropped. */
const MAX_TEXT = 2_000;

/** Sends an operation. @returns status 0 when the connection was cut, or by the client that left */
export function post(
  url: string,
  body: { readonly query: string; readonly variables?: unknown } | Buffer,
  { token, leaveMs }: PostOptions = {},
): Promise<Reply> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return new Promise((resolve) => {
    const sending = request(
      `${url}/graphql`,
      {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'content-length': bytes.length,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(leaveMs ?? PATIENCE_MS),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          if (text.length < MAX_TEXT) text += chunk.toString('utf8', 0, MAX_TEXT);
        });
        response.on('close', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', () => undefined);
      },
    );
    sending.on('error', () => resolve({ status: 0, text: '' }));
    sending.end(bytes);
  });
}

/** Opens connections that send some bytes and then nothing. @returns closes them */
export function openRaw(url: string, count: number, bytes: string | Buffer, isReading = true): () => void {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(bytes);
    if (isReading) socket.resume();
    else socket.pause();
    sockets.push(socket);
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
