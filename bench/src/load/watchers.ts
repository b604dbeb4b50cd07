// Many streams of Server-Sent Events at once, as cheaply as they can be held: sockets whose events
// are counted. It knows no batch.
import { connect, type Socket } from 'node:net';

export interface Watchers {
  /** Events of all streams so far. */
  events(): number;
  /** Bytes of all streams so far, heads included. */
  bytes(): number;
  close(): void;
}

const OPENING = 50;
const EVENT = Buffer.from('event: next');

/** Opens one stream. Resolves at its first event. */
function openStream(
  url: string,
  request: Buffer,
  count: (bytes: number, isEvent: boolean) => void,
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(request));
    let text = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      if (text.length < 4096) text = Buffer.concat([text, chunk]);
      count(chunk.length, false);
      for (let at = chunk.indexOf(EVENT); at !== -1; at = chunk.indexOf(EVENT, at + 1)) {
        count(0, true);
        resolve(socket);
      }
    });
    socket.on('error', reject);
    socket.on('close', () =>
      reject(new Error(`A stream ended before its first event: ${text.toString().slice(0, 500)}`)),
    );
  });
}

/** Opens a stream for each request, so many at a time; resolves when each had its first event. */
export async function openWatchers(url: string, requests: readonly Buffer[]): Promise<Watchers> {
  const sockets: Socket[] = [];
  const left = [...requests];
  let events = 0;
  let bytes = 0;
  const count = (more: number, isEvent: boolean): void => {
    bytes += more;
    if (isEvent) events += 1;
  };
  const goOn = async (): Promise<void> => {
    for (let request = left.shift(); request !== undefined; request = left.shift())
      sockets.push(await openStream(url, request, count));
  };
  await Promise.all(Array.from({ length: OPENING }, goOn));
  return {
    events: () => events,
    bytes: () => bytes,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
