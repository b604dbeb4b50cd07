// The stand-in service as a process: every operation that is measured, over prepared answers, with
// a delay that can be set and calls that are counted. It listens on loopback and tells its address
// to the process that started it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { readTemplates } from '../world/templates.ts';
import { type BulkBody, openAtlasAnswers } from './atlas-answers.ts';
import { openBatchAnswers } from './batch-answers.ts';
import type { Zip } from './zip-writer.ts';

const ATLAS = '/atlas/protein/api/v1alpha1';
const BATCH = '/api/v1/batch';
const JSON_TYPE = 'application/json';

interface Answer {
  readonly operation: string;
  readonly body: string | Uint8Array | Zip | undefined;
  readonly type?: string;
}

const atlas = await openAtlasAnswers(readTemplates(process.env.TEMPLATES ?? ''));
const batches = openBatchAnswers();
const state = { latency: 0, done: true };
const counts = new Map<string, number>();
let base = '';

const readTop = (url: URL): number => Number(url.searchParams.get('topk_features') ?? '10');

function answerGet(url: URL): Answer | undefined {
  if (url.pathname.startsWith('/downloads/'))
    return { operation: 'download', body: batches.result(url.pathname.slice(11, -5)) };
  const [, noun = '', name = ''] = url.pathname.slice(ATLAS.length).split('/');
  if (noun === 'proteins') return { operation: 'protein', body: atlas.protein(name, readTop(url)) };
  if (noun === 'clusters') return { operation: 'cluster', body: atlas.cluster(name, readTop(url)) };
  if (noun === 'features') return { operation: 'features', body: atlas.catalogue };
  return undefined;
}

function answerPost(url: URL, text: string): Answer | undefined {
  const body: unknown = JSON.parse(text);
  if (url.pathname === `${ATLAS}/proteins/batch`)
    return { operation: 'bulk', body: atlas.bulk(body as BulkBody), type: 'application/zip' };
  const operation = url.pathname.slice(BATCH.length + 1);
  if (operation === 'submit')
    return { operation, body: batches.submit(body as Parameters<typeof batches.submit>[0], state.done) };
  if (operation === 'list')
    return { operation, body: batches.list(body as Parameters<typeof batches.list>[0]) };
  if (operation === 'status')
    return { operation, body: batches.status(body as Parameters<typeof batches.status>[0], base) };
  return undefined;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * GET reads the counts; POST sets delay and whether new batches are done, and starts counting anew.
 */
async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    Object.assign(state, JSON.parse(await readText(request)));
    counts.clear();
  }
  response.end(JSON.stringify(Object.fromEntries(counts)));
}

const isZip = (body: string | Uint8Array | Zip): body is Zip => typeof body === 'object' && 'pieces' in body;

/**
 * Writes an archive piece by piece, so that its beginning is on its way while the rest is put
 * together.
 */
async function writePieces(response: ServerResponse, zip: Zip): Promise<void> {
  let left = zip.byteLength;
  for (const piece of zip.pieces()) {
    left -= piece.length;
    if (left === 0) return void response.end(piece);
    const isTaken = response.write(piece);
    if (response.destroyed) return;
    await (isTaken ? turn() : new Promise<void>((go) => void response.once('drain', go).once('close', go)));
  }
}

async function send(response: ServerResponse, answer: Answer | undefined): Promise<void> {
  const body = answer?.body;
  if (answer !== undefined) counts.set(answer.operation, (counts.get(answer.operation) ?? 0) + 1);
  if (body === undefined) response.statusCode = 404;
  const bytes = body ?? '{"detail":"not found"}';
  response.setHeader('content-type', answer?.type ?? JSON_TYPE);
  response.setHeader('content-length', isZip(bytes) ? bytes.byteLength : Buffer.byteLength(bytes));
  if (state.latency > 0) await sleep(state.latency);
  if (isZip(bytes)) await writePieces(response, bytes);
  else response.end(bytes);
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://stub');
  const answered =
    url.pathname === '/control'
      ? control(request, response)
      : request.method === 'POST'
        ? readText(request).then((text) => send(response, answerPost(url, text)))
        : send(response, answerGet(url));
  answered.catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    response.destroy();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`listening ${base}\n`);
});
process.on('disconnect', () => process.exit(0));
