// GET /tasks/{taskId}/result.json, structure.cif, structure.pdb, embeddings.npz: files of a
// finished task, with the caller's token, named after its item. Expired upstream signatures are
// renewed.

import type { GatewayContext } from '../../context.ts';
import { createEtag } from '../../etag.ts';
import { loadTask } from '../../resolvers/folds/load-task.ts';
import { findTaskName, taskFilePath } from '../../resolvers/folds/task-shape.ts';
import type { TaskShape } from '../../schema/task.ts';
import { writeFoldFile } from '../../structure/fold/files.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { checkPart } from '../../upstream/folds/fold-errors.ts';
import { createFoldResults, type FoldResults, type ResultReader } from '../../upstream/folds/fold-results.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import type { OpenLink } from '../auth/signed-links.ts';
import { npz } from './npz.ts';
import {
  attachment,
  decodeId,
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

/** The headers that every file has; `name` is what the browser saves it as. */
const fileHeaders = (
  name: string,
  ending: string,
  access: Readonly<Record<string, string>>,
): Record<string, string> => ({
  'content-type': TYPES[ending] ?? 'application/octet-stream',
  'content-disposition': attachment(name, ending),
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
}

const openFolds = ({ ctx, batches }: FileSource, upstream: Upstream): FoldResults =>
  createFoldResults(upstream, batches, ctx.submissions);

/** The result as it comes, streamed; ranges and conditions are the upstream's to answer. */
async function resultFile(source: FileSource): Promise<RouteAnswer | null> {
  const { ctx, request, taskId, headers } = source;
  // A download lasts as long as the caller stays, however slow it is.
  const folds = openFolds(source, { ...ctx.upstream, signal: ctx.clientSignal, streamed: true });
  const inline = await folds.inline(taskId);
  if (inline !== null) return sendContent(request, inline, headers);
  const condition = pickHeaders((name) => request.headers.get(name), ['if-none-match']);
  const answer = await folds.download(taskId, { ...rangeHeaders(request), ...condition });
  return answer === null ? null : forwardFile(answer, headers);
}

const sendContent = (request: Request, content: Uint8Array, headers: Record<string, string>): Response =>
  fileResponse(request, new Uint8Array(content), { ...headers, etag: createEtag(content) });

const NO_RESULT = 'The task has no result.';

/** A file of a task that is done. */
async function taskFile(source: FileSource, ending: string): Promise<RouteAnswer> {
  const { ctx, request, taskId, headers } = source;
  if (ending === 'json') return (await resultFile(source)) ?? textResponse(404, NO_RESULT);
  // Stores the scores as well, so that a table of them downloads nothing.
  const fold = (await openFolds(source, ctx.upstream).read(taskId))?.fold ?? null;
  if (fold === null) return textResponse(404, NO_RESULT);
  const content = await makeContent(fold, ending);
  return typeof content === 'string' ? textResponse(404, content) : sendContent(request, content, headers);
}

/** What a file is saved as: the name of its item; the task's id also while the store is away. */
const savedAs = (taskId: string, name: Promise<string | null>): Promise<string> =>
  name.then(
    (known) => known || taskId,
    () => taskId,
  );

const fileEnding = (file: string): string => file.slice(file.lastIndexOf('.') + 1);

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
  const ending = fileEnding(file);
  const headers = fileHeaders(await savedAs(taskId, findTaskName(ctx, task)), ending, WITH_TOKEN);
  return taskFile({ ctx, request, taskId, batches: ctx.batches, headers }, ending);
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
  const name = ctx.submissions.findTask(taskId).then((place) => place && findTaskName(ctx, place));
  const ending = fileEnding(file);
  const headers = fileHeaders(await savedAs(taskId, name), ending, LINK_HEADERS);
  const batches = sealedReader(claim.url);
  try {
    return await taskFile({ ctx, request, taskId, batches, headers }, ending);
  } catch (error) {
    if (batches.hasExpired()) return refuseLink('expired');
    throw error;
  }
}

/** The bytes of a file that is made here; a sentence when the result cannot be written so. */
async function makeContent(fold: FoldingResult, ending: string): Promise<Uint8Array | string> {
  const { misfits, embeddings } = fold;
  if (ending === 'npz') {
    if (misfits.embeddings !== null) return `${misfits.embeddings} result.json holds them as they came.`;
    if (embeddings === null) return 'The result has no embeddings; they are made with includeEmbeddings.';
    const { sequence, pair } = embeddings;
    return npz({ ...(sequence && { sequence }), ...(pair && { pair_pooled: pair }) });
  }
  const file = checkPart(writeFoldFile(fold, ending === 'pdb' ? 'PDB' : 'MMCIF'), misfits.structure);
  if (file.ok) return new TextEncoder().encode(file.text);
  return ending === 'pdb' ? `${file.reason} structure.cif holds it.` : file.reason;
}

/** The routes. @param open, openLink - the context of a request with a token, or with a signature */
export const taskRoutes = (
  open: (request: Request) => Promise<GatewayContext>,
  openLink: OpenLink,
): Route => ({
  path: /^(?:\/signed\/([^/]*))?\/tasks\/([^/]+)\/(result\.json|structure\.cif|structure\.pdb|embeddings\.npz)$/,
  async answer({ request, parts: [signature, taskId = '', file = ''] }) {
    const id = decodeId(taskId);
    if (id === null) return textResponse(400, 'The task id cannot be read.');
    const link = openLink(request, signature, taskFilePath(id, file));
    if (link === null) return answer(await open(request), request, id, file);
    return typeof link === 'string' ? refuseLink(link) : linkedFile(link, request, id, file);
  },
});
