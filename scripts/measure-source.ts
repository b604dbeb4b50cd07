// Measures what ARCHITECTURE.md says of the source: `npm run measure`. Sizes of files, and how many files a request passes:
// those of which a function runs between the request and its answer, by V8's precise coverage. The sandbox is not counted.
import { readdirSync, readFileSync } from 'node:fs';
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

const sandbox = await startSandbox({ size: 'small' });
const gateway = createGateway({
  config: readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent', UPSTREAM_URL: sandbox.url }),
  upstreamUrl: sandbox.url,
  log: createLogger('silent', true),
});
await gateway.ready();
const server = createHttpServer(gateway);
const { url, close } = await openPort(server, 0, '127.0.0.1');
const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** Asks, and counts the files whose functions ran meanwhile. */
async function passed(
  title: string,
  query: string,
  variables: Record<string, unknown> = {},
  ask: (request: Request) => Promise<Response> = gateway.fetch,
): Promise<unknown> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const response = await ask(
    new Request(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox' },
      body: JSON.stringify({ query, variables }),
    }),
  );
  const answer: unknown = await response.json();
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

const CATALOGUE = '{ features(first: 1) { nodes { index } } }';
const found = await passed('the first query', CATALOGUE);
if (!JSON.stringify(found).includes('"index"')) throw new Error(JSON.stringify(found));
const HASHES = ['12e9c9e4e2835c302e8ba615115edda3', 'b840eb6446f9f188023424af40675a36'];
const LIST = 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash structure { text } } }';
const FOLD = `mutation { submitFold(input: { items: [{ chains: [{ protein: { ids: ["A"], sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] }) { __typename } }`;
await passed('a list of structures', LIST, { h: HASHES });
const submitted = await passed('a submission', FOLD);
if (!JSON.stringify(submitted).includes('FoldSubmitted')) throw new Error(JSON.stringify(submitted));
await fetch(`${url}/health`);
await passed('a query over a connection', CATALOGUE, {}, fetch);
await passed('the same again, from the response cache', CATALOGUE, {}, fetch);
session.disconnect();
await close(0);
await gateway.close();
await sandbox.close();
