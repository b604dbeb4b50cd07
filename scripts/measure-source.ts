// Measures what ARCHITECTURE.md says of the source: `npm run measure`. Sizes of files, and how many
// files a request passes: those of which a function runs between the request and its answer, by
// V8's precise coverage. The sandbox is not counted.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../sandbox/src/sandbox.ts';
import { readConfig } from '../src/config.ts';
import { createGateway } from '../src/gateway.ts';
import { createHttpServer } from '../src/http/server/http-server.ts';
import { openPort } from '../src/process/ports.ts';
import { createLogger } from '../src/telemetry/log.ts';

const SRC = new URL('../src/', import.meta.url);
const MAX_COLUMNS = 110;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const texts = files.map((file) => readFileSync(new URL(file, SRC), 'utf8').trimEnd().split('\n'));
const sizes = texts.map((lines) => lines.length).sort((a, b) => a - b);
const share = (part: number): number => sizes[Math.floor(part * (sizes.length - 1))] ?? 0;
const rooms = new Set(files.map((file) => (file.split('/')[0] ?? '').replace(/\.ts$/, '')));
const wide = texts.flat().filter((line) => line.length > MAX_COLUMNS).length;
console.log(
  `${sizes.reduce((sum, size) => sum + size, 0)} lines in ${sizes.length} files, ${rooms.size} rooms`,
);
console.log(
  `median ${share(0.5)} lines, p90 ${share(0.9)}, largest ${share(1)}; ${wide} lines over ${MAX_COLUMNS} columns`,
);

const sandbox = await startSandbox({ size: 'small', speed: 100 });
const gateway = createGateway({
  config: readConfig({
    ...{ STORE_URL: 'memory:', LOG_LEVEL: 'silent', WEBHOOK_HOSTS: '127.0.0.1' },
    WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  }),
  upstreamUrl: sandbox.url,
  sandbox: true,
  log: createLogger('silent', true),
});
await gateway.ready();
const server = createHttpServer(gateway);
const { url, close } = await openPort(server, { setting: 'PORT', port: 0, host: '127.0.0.1' });
const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** Counts the files whose functions run during some work. */
async function passed(title: string, work: () => Promise<string>): Promise<string> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const answer = await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const base = fileURLToPath(SRC);
  const names = result
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
    )
    .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url))
    .filter((path) => path.startsWith(base));
  console.log(`${title}: ${names.length} files`);
  if (process.argv.includes('--files'))
    for (const name of names.sort()) console.log(`  ${name.slice(base.length)}`);
  return answer;
}

/** Asks over a connection. @throws Error for an answer without a text that it must have */
async function ask(query: string, expected: string, accept = 'application/json', variables = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox', accept },
    body: JSON.stringify({ query, variables }),
  });
  const answer = await response.text();
  if (!answer.includes(expected)) throw new Error(answer);
  return answer;
}

const CATALOGUE = '{ features(first: 1) { nodes { index } } }';
const HASHES = ['12e9c9e4e2835c302e8ba615115edda3', 'b840eb6446f9f188023424af40675a36'];
const LIST = 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash structure { text } } }';
const submitFold = (notify = '') =>
  `mutation { submitFold(input: { ${notify} items: [{ chains: [{ protein: { ids: ["A"], sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] }) { ... on FoldSubmitted { batch { batchId } } } }`;

const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(204).end();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const address = receiver.address();
if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
const notify = `notify: { url: "http://127.0.0.1:${address.port}/" }`;

await fetch(`${url}/health`);
await passed('the first query', () => ask(CATALOGUE, '"index"'));
await passed('the same again, from the response cache', () => ask(CATALOGUE, '"index"'));
await passed('another query', () => ask('{ features(first: 2) { nodes { index } } }', '"index"'));
await passed('a list of structures', () => ask(LIST, 'ATOM', 'application/json', { h: HASHES }));
const submitted = await passed('a submission', () => ask(submitFold(), 'batchId'));
const batchId = /"batchId":"([^"]+)"/.exec(submitted)?.[1];
const PROGRESS = `subscription { batchProgress(batchId: "${batchId}") { final } }`;
await passed('a subscription, to its end', () => ask(PROGRESS, '"final":true', 'text/event-stream'));
await passed('a submission with a webhook, until it is sent', async () => {
  const isSent = once(receiver, 'request');
  const answer = await ask(submitFold(notify), 'batchId');
  await isSent;
  return answer;
});
session.disconnect();
receiver.close();
await close(0);
await gateway.close();
await sandbox.close();
