// Reads the small body of a request off its connection, and puts it back for whoever has to read it again. It knows no GraphQL.
import { IncomingMessage } from 'node:http';

/** Bytes of a body that says how long it is; undefined where it does not, or wrongly. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return length !== undefined && encoding === undefined && /^\d{1,15}$/.test(length)
    ? Number(length)
    : undefined;
}

/** Reads the whole body, which node:http ends at its announced length. @param done - never called when the client leaves before */
export function readAll(incoming: IncomingMessage, done: (body: Buffer) => void): void {
  const length = announcedLength(incoming);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const give = (): void => {
    const [only] = chunks;
    done(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  };
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    // Most bodies come with their heads and are there as a whole; else its end is waited for. To wait for it with each costs a turn.
    if (bytes !== length) return;
    if (incoming.complete) give();
    else incoming.on('end', give);
  });
  if (length === 0 || length === undefined) incoming.on('end', give);
}

/** The same request with its body unread. */
export function unread(incoming: IncomingMessage, body: Buffer): IncomingMessage {
  const { socket, headers, rawHeaders, method, url, httpVersion } = incoming;
  const again = new IncomingMessage(socket);
  Object.assign(again, { headers, rawHeaders, method, url, httpVersion, complete: true });
  again.push(body);
  again.push(null);
  return again;
}
