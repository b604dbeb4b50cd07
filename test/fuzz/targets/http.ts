// Requests that are nearly HTTP, over a socket: an answer that blames only the sender, or a closed
// connection, and a server that is alive afterwards.
import fc from 'fast-check';
import { sendRaw, statusesIn } from '../raw-http.ts';
import { edited, edits, HASH, never, type Target, text } from '../target.ts';

export const http: Target = ({ served }) => {
  const port = Number(new URL(served.url).port);
  const method = fc.oneof(
    fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'TRACE', 'get', 'QUERY'),
    text,
  );
  const path = fc.oneof(
    fc.constantFrom(
      '/',
      '/graphql',
      '/graphql?query={__typename}',
      '//',
      '*',
      '/health',
      `/structures/${HASH}.cif`,
    ),
    fc.webUrl(),
    text,
  );
  const header = fc.tuple(
    fc.oneof(
      fc.constantFrom(
        'host',
        'content-type',
        'accept',
        'content-length',
        'transfer-encoding',
        'upgrade',
        'expect',
      ),
      text,
    ),
    fc.oneof(
      fc.constantFrom(
        'application/json',
        '*/*',
        '0',
        '-1',
        '5',
        'chunked',
        'gzip',
        'websocket',
        '100-continue',
        'x',
      ),
      text,
    ),
  );
  const body = fc.oneof(fc.constantFrom('{"query":"{__typename}"}', '{', '[]', 'null', ''), fc.json(), text);
  const chunk = (part: string, size: string) => `${size}\r\n${part}\r\n`;
  return fc.asyncProperty(
    method,
    path,
    fc.array(header, { maxLength: 6 }),
    body,
    fc.constantFrom('length', 'chunked', 'bad chunks', 'none'),
    edits,
    async (verb, target, headers, content, form, changes) => {
      const bytes = Buffer.from(content);
      const size = bytes.length.toString(16);
      const [more, sent] =
        form === 'length'
          ? [`content-length: ${bytes.length}\r\n`, content]
          : form === 'none'
            ? ['', content]
            : [
                'transfer-encoding: chunked\r\n',
                chunk(content, form === 'chunked' ? size : `${size}z;`) + chunk('', '0'),
              ];
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const all = `${verb} ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${lines}${more}\r\n${sent}`;
      const statuses = statusesIn(await sendRaw(port, edited(Buffer.from(all), changes)));
      if (statuses.some((status) => status >= 500)) never('an answer that blames us', statuses);
      const health = await fetch(new URL('/health', served.url));
      if (health.status !== 200) never('not alive any more', health.status);
      await health.arrayBuffer();
    },
  );
};
