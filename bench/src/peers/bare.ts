// A bare node:http server: reads the body and answers the same prepared bytes, whatever was asked.
// The upper limit of Node's own throughput.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tell } from './setting.ts';

let prepared = Buffer.alloc(0);
let type = 'application/json';

/** Given by the bench before load: the bytes that the others answer with. */
process.on('message', (message: unknown) => {
  if (typeof message !== 'object' || message === null || !('bytes' in message) || !('type' in message))
    return;
  prepared = Buffer.from(String(message.bytes), 'base64');
  type = String(message.type);
  process.send?.('prepared');
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks).toString();
    response.writeHead(200, { 'content-type': type, 'content-length': prepared.length });
    response.end(prepared);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port));
