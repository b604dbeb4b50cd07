// GET /tasks/{taskId}/result.json, structure.cif, structure.pdb, confidences.json,
// summary_confidences.json, pae.json, embeddings.npz: files of a finished task, with the caller's
// token, named after its item. Expired upstream signatures are renewed.
import type { GatewayContext } from '../../context.ts';
import { createEtag, matchesIfNoneMatch } from '../../etag.ts';
import { VERSION } from '../../package.ts';
import { loadTask } from '../../resolvers/folds/load-task.ts';
import { findItem, listDeclaredBonds, TASK_FILES, taskFilePath } from '../../resolvers/folds/task-shape.ts';
import type { TaskShape } from '../../schema/task.ts';
import type { LedgerItem } from '../../store/ledger/ledger.ts';
import { writeConfidences, writePae, writeSummary } from '../../structure/fold/confidence-files.ts';
import type { DeclaredBond } from '../../structure/fold/declared-bonds.ts';
import { writeFoldFile, writeMmcifWithPae } from '../../structure/fold/files.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { checkPart } from '../../upstream/folds/fold-errors.ts';
import { createFoldResults, type FoldResults, type ResultReader } from '../../upstream/folds/fold-results.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import type { OpenLink } from '../auth/signed-links.ts';
import { npz } from './npz.ts';
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
import type { Route, RouteAnswer } from './route.ts';

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  cif: 'chemical/x-mmcif; charset=utf-8',
  pdb: 'chemical/x-pdb; charset=utf-8',
  npz: 'application/zip',
};

/** Why there is no file, by the state of the task. */
const REASONS: Readonly<Record<string, [status: number, text: string]>> = {
  QUEUED: [409, 'The task has not started yet; there is no result.'],
  IN_PROGRESS: [409, 'The task is running; there is no result yet.'],
  FAILED: [409, 'The task failed; there is no result.'],
  CANCELLED: [409, 'The task was cancelled; there is no result.'],
};

const fileEnding = (file: string): string => file.slice(file.lastIndexOf('.') + 1);

/** What is put behind the name of the item, as AlphaFold 3 does. */
const SUFFIXES: Readonly<Record<string, string>> = {
  'confidences.json': '_confidences',
  'summary_confidences.json': '_summary_confidences',
  'pae.json': '_pae',
};

/** The headers that every file has; the browser saves it under the `name` of its item. */
const fileHeaders = (
  name: string,
  file: string,
  access: Readonly<Record<string, string>>,
): Record<string, string> => ({
  'content-type': TYPES[fileEnding(file)] ?? 'application/octet-stream',
  'content-disposition': attachment(`${name}${SUFFIXES[file] ?? ''}`, fileEnding(file)),
  'accept-ranges': 'bytes',
  ...access,
});

/** The file belongs to one caller: no shared cache may keep it. */
const WITH_TOKEN = { 'cache-control': 'private, max-age=0, must-revalidate', vary: 'authorization' };

/** What a file of a finished task is read through. */
interface FileSource {
  readonly ctx: GatewayContext;
  readonly request: Request;
  readonly taskId: string;
  readonly batches: ResultReader;
  readonly headers: Record<string, string>;
  readonly item: LedgerItem | null;
}

const openFolds = ({ ctx, batches }: FileSource, upstream: Upstream): FoldResults =>
  createFoldResults(upstream, batches, ctx.submissions);

/** The result as it comes, streamed; ranges and conditions are the upstream's to answer. */
async function resultFile(source: FileSource): Promise<RouteAnswer | null> {
  const { ctx, request, taskId, headers } = source;
  // A download lasts as long as the caller stays, however slow it is.
  const folds = openFolds(source, { ...ctx.upstream, signal: ctx.clientSignal });
  const inline = await folds.inline(taskId);
  if (inline !== null) return sendContent(request, inline, headers);
  const condition = pickHeaders((name) => request.headers.get(name), ['if-none-match']);
  const answer = await folds.download(taskId, { ...rangeHeaders(request), ...condition });
  return answer === null ? null : forwardFile(answer, headers);
}

const sendContent = (request: Request, content: Uint8Array, headers: Record<string, string>): Response =>
  fileResponse(request, new Uint8Array(content), { ...headers, etag: createEtag(content) });

const NO_RESULT = 'The task has no result.';

/** A file that is sent while it is written. Its tag is made of the result that it is written from. */
function sendPieces(
  { request, headers }: FileSource,
  pieces: Iterable<string>,
  { file, bytes }: { readonly file: string; readonly bytes: Uint8Array },
): RouteAnswer {
  const etag = `${createEtag(bytes).slice(0, -1)}-${VERSION}-${file}"`;
  const described = { ...headers, 'accept-ranges': 'none', etag };
  return matchesIfNoneMatch(request.headers.get('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: described })
    : { status: 200, headers: described, body: encodePieces(pieces) };
}

/** A file of a task that is done. */
async function taskFile(source: FileSource, file: string): Promise<RouteAnswer> {
  const { ctx, request, taskId, headers, item } = source;
  if (file === 'result.json') return (await resultFile(source)) ?? textResponse(404, NO_RESULT);
  // Stores the scores as well, so that a table of them downloads nothing.
  const whole = await openFolds(source, ctx.upstream).read(taskId);
  if (whole === null) return textResponse(404, NO_RESULT);
  const { bytes, fold } = whole;
  const isWithPae = new URL(request.url).searchParams.has('pae');
  const content = await makeContent(fold, file, { bonds: listDeclaredBonds(item), isWithPae });
  if (typeof content === 'string') return textResponse(404, content);
  return content instanceof Uint8Array
    ? sendContent(request, content, headers)
    : sendPieces(source, content, { file, bytes });
}

/** The response for a task whose result is not here. A task that failed has none that could expire. */
function withoutResult({ state, result }: TaskShape): Response {
  const reason = REASONS[state];
  if (reason !== undefined) return textResponse(...reason);
  if (result === 'expired')
    return textResponse(410, 'The result has expired: the service keeps results for 31 days.');
  if (state === 'DONE')
    return textResponse(502, 'The upstream says that the task is done, and gives no result.');
  return textResponse(404, NO_RESULT);
}

async function answer(
  ctx: GatewayContext,
  request: Request,
  taskId: string,
  file: string,
): Promise<RouteAnswer> {
  const task = await loadTask(ctx, taskId);
  if (task === null) return textResponse(404, 'There is no such task for this key.');
  if (task.result !== 'here') return withoutResult(task);
  const item = await findItem(ctx, task);
  const headers = fileHeaders(item?.name || taskId, file, WITH_TOKEN);
  return taskFile({ ctx, request, taskId, batches: ctx.batches, headers, item }, file);
}

/** Gives the sealed address where Status is asked for; once it has failed there is no other. */
function sealedReader(url: string) {
  let left: string | null = url;
  return {
    status: async () => ({ data: { status: 'done', response: left }, requestId: undefined, warnings: [] }),
    forgetStatus() {
      left = null;
      return undefined;
    },
    hasExpired: () => left === null,
  };
}

/** A file by a signed link: from the sealed address, with no token and no Status call. */
async function linkedFile(
  { ctx, claim }: Exclude<ReturnType<OpenLink>, string | null>,
  request: Request,
  taskId: string,
  file: string,
): Promise<RouteAnswer> {
  if (claim.url === null) return refuseLink('invalid');
  const place = await ctx.submissions.findTask(taskId).catch(() => null);
  const item = place && (await findItem(ctx, place));
  const headers = fileHeaders(item?.name || taskId, file, LINK_HEADERS);
  const batches = sealedReader(claim.url);
  try {
    return await taskFile({ ctx, request, taskId, batches, headers, item }, file);
  } catch (error) {
    if (batches.hasExpired()) return refuseLink('expired');
    throw error;
  }
}

/**
 * A file that is made here, as bytes or as pieces of text; a sentence when the result cannot be
 * written so.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when what it holds cannot be trusted
 */
async function makeContent(
  fold: FoldingResult,
  file: string,
  { bonds, isWithPae }: { readonly bonds: readonly DeclaredBond[]; readonly isWithPae: boolean },
): Promise<Uint8Array | Iterable<string> | string> {
  const { misfits, embeddings } = fold;
  if (file in SUFFIXES) {
    checkPart(fold, misfits.pae ?? misfits.chains);
    if (file === 'summary_confidences.json')
      return new TextEncoder().encode(writeSummary(checkPart(fold, misfits.chainPairs)));
    const written =
      file === 'pae.json' ? writePae(fold) : writeConfidences(checkPart(fold, misfits.structure));
    return written.ok ? written.pieces : written.reason;
  }
  if (file === 'embeddings.npz') {
    if (misfits.embeddings !== null) return `${misfits.embeddings} result.json holds them as they came.`;
    if (embeddings === null) return 'The result has no embeddings; they are made with includeEmbeddings.';
    const { sequence, pair } = embeddings;
    return npz({ ...(sequence && { sequence }), ...(pair && { pair_pooled: pair }) });
  }
  if (file === 'structure.cif' && isWithPae) {
    const written = writeMmcifWithPae(checkPart(fold, misfits.pae ?? misfits.structure), bonds);
    return written.ok ? written.pieces : written.reason;
  }
  const format = file === 'structure.pdb' ? 'PDB' : 'MMCIF';
  const written = checkPart(writeFoldFile(fold, format, bonds), misfits.structure);
  if (written.ok) return new TextEncoder().encode(written.text);
  return format === 'PDB' ? `${written.reason} structure.cif holds it.` : written.reason;
}

const FILES = TASK_FILES.map((file) => file.replace('.', '\\.')).join('|');

/** The routes. @param open, openLink - the context of a request with a token, or with a signature */
export const taskRoutes = (
  open: (request: Request) => Promise<GatewayContext>,
  openLink: OpenLink,
): Route => ({
  path: new RegExp(`^(?:/signed/([^/]*))?/tasks/([^/]+)/(${FILES})$`),
  async answer({ request, url, parts: [signature, taskId = '', file = ''] }) {
    const id = decodeId(taskId);
    if (id === null) return textResponse(400, 'The task id cannot be read.');
    const pae = url.searchParams.get('pae') ?? '1';
    if (file === 'structure.cif' && pae !== '1') return textResponse(400, '`pae` is 1, or left out.');
    const link = openLink(request, signature, taskFilePath(id, file));
    if (link === null) return answer(await open(request), request, id, file);
    return typeof link === 'string' ? refuseLink(link) : linkedFile(link, request, id, file);
  },
});
