// Refuses bodies that are too large before they are read.
import type { Context, MiddlewareHandler } from 'hono';

/** The bytes of a body whose length was not declared; undefined as soon as it is over the limit. */
async function readUpTo(limit: number, body: ReadableStream<Uint8Array>): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * A declared length is judged by itself; node sees to it that no more is read. A body in chunks is
 * read here and put back whole. A refusal leaves the rest unread, so it has to end the connection.
 */
export function limitBody(limit: number, refuse: (c: Context) => Response): MiddlewareHandler {
  return async (c, next) => {
    if (Number(c.req.header('content-length') ?? 0) > limit) return refuse(c);
    const { raw, method, url } = c.req;
    if (method === 'POST' && c.req.header('transfer-encoding') !== undefined && raw.body !== null) {
      const body = await readUpTo(limit, raw.body);
      if (body === undefined) return refuse(c);
      c.req.raw = new Request(url, { method, headers: raw.headers, body: new Uint8Array(body) });
    }
    return next();
  };
}
