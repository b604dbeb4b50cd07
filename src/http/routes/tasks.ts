// GET /tasks/{taskId}/result.json, structure.cif, structure.pdb, confidences.json,
// summary_confidences.json, pae.json, embeddings.npz: files of a finished task, with the caller's
// token, named after its item. Expired upstream signatures are renewed.
import { extname } from 'node:path';
import type { GatewayContext } from '../../context.ts';
import { createEtag, matchesIfNoneMatch } from '../../etag.ts';
import { VERSION } from '../../package.ts';
import { TASK_FILES, type TaskFile, taskFilePath } from '../../resolvers/folds/results/task-files.ts';
import { loadTask } from '../../resolvers/folds/tasks/load-task.ts';
import { findItem, listDeclaredBonds } from '../../resolvers/folds/tasks/task-shape.ts';
import type { TaskShape } from '../../schema/task.ts';
import type { LedgerItem } from '../../store/ledger/ledger.ts';
import { missingResult } from '../../upstream/folds/fold-errors.ts';
import { createFoldResults, type FoldResults, type ResultReader } from '../../upstream/folds/fold-results.ts';
import type { Upstream } from '../../upstream/http/call.ts';
import type { OpenedLink, OpenLink } from '../access/signed-links.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { NO_LINK, NOT_MODIFIED, type Parameter, RANGES, type RouteDescription } from './description.ts';
import {
  attachment,
  decodeId,
  encodePieces,
  fileResponse,
  forwardFile,
  LINK_HEADERS,
  pickHeaders,
  rangeHeaders,
  refuseLink,
  textResponse,
} from './responses.ts';
import type { Route } from './route.ts';

/** Why there is no file, by the state of the task. */
const REASONS: Readonly<Record<string, [status: number, text: string]>> = {
  QUEUED: [409, 'The task has not started yet; there is no result.'],
  IN_PROGRESS: [409, 'The task is running; there is no result yet.'],
  FAILED: [409, 'The task failed; there is no result.'],
  CANCELLED: [409, 'The task was cancelled; there is no result.'],
};

/** The headers that every file has; the browser saves it under the name of its item. */
function fileHeaders(
  itemName: string,
  { name, type, suffix = '' }: TaskFile,
  access: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'content-type': type.startsWith('chemical/') ? `${type}; charset=utf-8` : type,
    'content-disposition': attachment(`${itemName}${suffix}`, extname(name).slice(1)),
    'accept-ranges': 'bytes',
    ...access,
  };
}

/** The file belongs to one caller: no shared cache may keep it. */
const WITH_TOKEN = { 'cache-control': 'private, max-age=0, must-revalidate', vary: 'authorization' };

/** The request context and the reader for a file of a finished task. */
interface FileSource {
  readonly ctx: GatewayContext;
  readonly exchange: Exchange;
  readonly taskId: string;
  readonly batches: ResultReader;
  readonly headers: Record<string, string>;
  readonly item: LedgerItem | null;
}

const openFolds = ({ ctx, batches }: FileSource, upstream: Upstream): FoldResults =>
  createFoldResults(upstream, batches, ctx.submissions);

/** The result as it comes, streamed; ranges and conditions are the upstream's to answer. */
async function resultFile(source: FileSource): Promise<HttpResponse | null> {
  const { ctx, exchange, taskId, headers } = source;
  // A download lasts as long as the caller stays, however slow it is.
  const folds = openFolds(source, { ...ctx.upstream, signal: ctx.clientSignal });
  const inline = await folds.inline(taskId);
  if (inline !== null) return sendContent(exchange, inline, headers);
  const condition = pickHeaders((name) => exchange.headers[name], ['if-none-match']);
  const answer = await folds.download(taskId, { ...rangeHeaders(exchange), ...condition });
  return answer === null ? null : forwardFile(answer, headers);
}

const sendContent = (
  exchange: Exchange,
  content: Uint8Array,
  headers: Record<string, string>,
): HttpResponse => fileResponse(exchange, content, { ...headers, etag: createEtag(content) });

const NO_RESULT = 'The task has no result.';

/** A file that is sent while it is written. Its tag is made from the result that it shows. */
function sendPieces(
  { exchange, headers }: FileSource,
  pieces: Iterable<string>,
  { file, bytes }: { readonly file: TaskFile; readonly bytes: Uint8Array },
): HttpResponse {
  const etag = `${createEtag(bytes).slice(0, -1)}-${VERSION}-${file.name}"`;
  const described = { ...headers, 'accept-ranges': 'none', etag };
  return matchesIfNoneMatch(exchange.headers['if-none-match'], etag)
    ? { status: 304, headers: described, body: null }
    : { status: 200, headers: described, body: encodePieces(pieces) };
}

/** A file of a task that is done. */
async function taskFile(source: FileSource, file: TaskFile): Promise<HttpResponse> {
  const { ctx, exchange, taskId, headers, item } = source;
  const { open } = file;
  if (open === undefined) return (await resultFile(source)) ?? textResponse(404, NO_RESULT);
  // Stores the scores as well, so that a table of them downloads nothing.
  const whole = await openFolds(source, ctx.upstream).read(taskId);
  if (whole === null) return textResponse(404, NO_RESULT);
  const { bytes, fold } = whole;
  const isWithPae = new URL(exchange.origin + exchange.url).searchParams.has('pae');
  const opened = open(fold, { bonds: listDeclaredBonds(item), isWithPae });
  if (typeof opened === 'string') return textResponse(404, opened);
  const content = await opened();
  return content instanceof Uint8Array
    ? sendContent(exchange, content, headers)
    : sendPieces(source, content, { file, bytes });
}

/**
 * The response for a task whose result is not here. A task that failed has none that could expire.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for one that is done
 */
function withoutResult({ state, result }: TaskShape): HttpResponse {
  const reason = REASONS[state];
  if (reason !== undefined) return textResponse(...reason);
  if (result === 'expired')
    return textResponse(410, 'The result has expired: the service keeps results for 31 days.');
  if (state === 'DONE') throw missingResult();
  return textResponse(404, NO_RESULT);
}

async function answer(
  ctx: GatewayContext,
  exchange: Exchange,
  taskId: string,
  file: TaskFile,
): Promise<HttpResponse> {
  const task = await loadTask(ctx, taskId);
  if (task === null) return textResponse(404, 'There is no such task for this key.');
  if (task.result !== 'here') return withoutResult(task);
  const item = await findItem(ctx, task);
  const headers = fileHeaders(item?.name || taskId, file, WITH_TOKEN);
  return taskFile({ ctx, exchange, taskId, batches: ctx.batches, headers, item }, file);
}

/** Gives the sealed address where Status is asked for; once it has failed there is no other. */
function sealedReader(url: string) {
  let address: string | null = url;
  return {
    status: async () => ({ data: { status: 'done', response: address }, requestId: undefined, warnings: [] }),
    forgetStatus() {
      address = null;
      return undefined;
    },
    hasExpired: () => address === null,
  };
}

/** A file by a signed link: from the sealed address, with no token and no Status call. */
async function linkedFile(
  { ctx, claim }: OpenedLink,
  exchange: Exchange,
  taskId: string,
  file: TaskFile,
): Promise<HttpResponse> {
  if (claim.url === null) return refuseLink('invalid');
  const place = await ctx.submissions.findTask(taskId).catch(() => null);
  const item = place && (await findItem(ctx, place));
  const headers = fileHeaders(item?.name || taskId, file, LINK_HEADERS);
  const batches = sealedReader(claim.url);
  try {
    return await taskFile({ ctx, exchange, taskId, batches, headers, item }, file);
  } catch (error) {
    if (batches.hasExpired()) return refuseLink('expired');
    throw error;
  }
}

const FILE_NAMES = TASK_FILES.map(({ name }) => name.replace('.', '\\.')).join('|');

const PAE: Parameter = {
  description: 'Adds the PAE of each pair of residues of polymers; such a file has no ranges.',
  example: '1',
  schema: { enum: ['1'] },
};
const REFUSALS = {
  404: 'There is no such task for this key, or no such file.',
  409: 'There is no result (yet).',
  410: 'The result has expired.',
};

/** Describes the files, with a key and by a signed link. */
function describeFiles(): Record<string, RouteDescription> {
  const described: Record<string, RouteDescription> = {};
  for (const { name, summary, type, isStreamed } of TASK_FILES) {
    const hasPae = name === 'structure.cif';
    const common = { summary, type, query: hasPae ? { pae: PAE } : {} };
    const wrong = hasPae ? { 400: 'A wrong parameter.' } : {};
    const others = { ...NOT_MODIFIED, ...(isStreamed ? {} : RANGES), ...wrong, ...REFUSALS };
    described[`/tasks/{taskId}/${name}`] = { ...common, isPrivate: true, others };
    described[`/signed/{signature}/tasks/{taskId}/${name}`] = { ...common, others: { ...wrong, ...NO_LINK } };
  }
  return described;
}

/**
 * The routes.
 *
 * @param open, openLink - the context of a request with a token, or with a signature
 */
export const taskRoutes = (
  open: (exchange: Exchange) => Promise<GatewayContext>,
  openLink: OpenLink,
): Route => ({
  path: new RegExp(`^(?:/signed/([^/]*))?/tasks/([^/]+)/(${FILE_NAMES})$`),
  described: describeFiles(),
  async answer({ exchange, url, parts: [signature, taskId = '', name] }) {
    const id = decodeId(taskId);
    const file = TASK_FILES.find((one) => one.name === name);
    if (id === null || file === undefined) return textResponse(400, 'The task id cannot be read.');
    const pae = url.searchParams.get('pae') ?? '1';
    if (file.name === 'structure.cif' && pae !== '1') return textResponse(400, '`pae` is 1, or left out.');
    const link = openLink(exchange, signature, taskFilePath(id, file.name));
    if (link === null) return answer(await open(exchange), exchange, id, file);
    return typeof link === 'string' ? refuseLink(link) : linkedFile(link, exchange, id, file);
  },
});
