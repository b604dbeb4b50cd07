// Results of finished tasks for one request: downloads the JSON behind the signed URL once, without
// a token, and again with a fresh signature when the first has expired. The store caches scalar
// scores.
import pLimit from 'p-limit';
import type { LedgerItem, TaskScores } from '../../store/ledger/ledger.ts';
import type { Submissions } from '../../store/ledger/submissions.ts';
import { UpstreamError } from '../errors.ts';
import { type Downloads, download } from '../http/download.ts';
import { readShared } from '../http/response-body.ts';
import type { StreamedResponse, Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import { JsonError } from '../json/lenient-json.ts';
import { limitsOf } from '../operations.ts';
import type { BatchReader } from './batch-reader.ts';
import { type FoldResultHandle, openFoldResult } from './open-fold-result.ts';

/** A result: a signed URL, or JSON that stood in the answer. */
type TaskResult = { readonly url: string } | { readonly json: string };

/** Reads `response` of Status: a signed URL, an inline object or inline text. Null without one. */
function readResponse(response: unknown): TaskResult | null {
  if (response === null || response === undefined) return null;
  if (typeof response !== 'string') return { json: JSON.stringify(response) };
  const text = response.trim();
  return /^[[{"]/.test(text) || /\s/.test(text) ? { json: text } : { url: text };
}

export type ResultReader = Pick<BatchReader, 'status' | 'forgetStatus'>;

export interface WholeResult {
  readonly bytes: Uint8Array;
  /** Close it after use. */
  readonly fold: FoldResultHandle;
  /** A sentence where they are outside 0 to 1. */
  readonly scores: TaskScores | string;
}

export type FoldResults = ReturnType<typeof createFoldResults>;

const AT_ONCE = 8;

/** What is wrong with a task that is done and has neither a result nor an expiry. */
export const missingResult = (): UpstreamError =>
  drifted('status', '$.response', 'the task is done, and there is no result', true);

/** A result whose fresh address is refused: stores answer so for a file that is gone, too. */
export class RefusedResultError extends UpstreamError {
  constructor() {
    super('The upstream does not let its own result be downloaded. Try again in a moment.', {
      operation: 'download',
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    });
  }
}

const MiB = 1024 * 1024;

/** Bytes of such chains' result: embeddings by row, errors by pair of rows. */
function maxResultBytes(chains: LedgerItem['chains']): number {
  const rows = chains.reduce(
    (sum, { ids, length, maxRows = length }) => sum + Math.max(1, ids.length) * maxRows,
    0,
  );
  return Math.min(limitsOf('download').bytes, 32 * MiB + rows * 64 * 1024 + rows ** 2 * 32);
}

function unreadable(error: unknown): never {
  if (!(error instanceof JsonError)) throw error;
  throw new UpstreamError(
    `The result that the upstream stored cannot be read. ${error.message}`,
    { operation: 'download', code: 'UPSTREAM_DRIFT', status: 200, retryable: true },
    { cause: error },
  );
}

/** Creates the reader of one request. @param onOpened - receives the release of each held result */
export function createFoldResults(
  up: Upstream,
  downloads: Downloads,
  batches: ResultReader,
  submissions: Submissions,
  onOpened: (close: () => void) => void = () => undefined,
) {
  const held = new Map<string, Promise<FoldResultHandle | null>>();
  const passing = new Map<string, Promise<FoldResultHandle | null>>();
  const scored = new Map<string, Promise<TaskScores | null>>();
  const limited = pLimit(AT_ONCE);

  const resultOf = async (taskId: string): Promise<TaskResult | null> =>
    readResponse((await batches.status(taskId))?.data.response);

  const urlOf = async (taskId: string): Promise<string | null> => {
    const result = await resultOf(taskId);
    return result !== null && 'url' in result ? result.url : null;
  };

  const inlineOf = async (taskId: string): Promise<Uint8Array | null> => {
    const result = await resultOf(taskId);
    return result !== null && 'json' in result ? Buffer.from(result.json) : null;
  };

  /** By the submitted chains; undefined for a batch submitted elsewhere. */
  const maxBytesOf = async (taskId: string): Promise<number | undefined> => {
    const place = await submissions.placeOf(taskId);
    const batch = place && (await submissions.batch(place.batchId));
    const item = batch && (await submissions.item(place.batchId, place.index % batch.itemCount));
    return item ? maxResultBytes(item.chains) : undefined;
  };

  /** A URL signed earlier in this request may have expired; a fresh one fails for good. */
  const begin = async (
    taskId: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<StreamedResponse | null> => {
    const url = await urlOf(taskId);
    if (url === null) return null;
    const maxBytes = await maxBytesOf(taskId).catch(() => undefined);
    const answer = await download(up, downloads, url, { headers, maxBytes });
    if (answer !== null) return answer;
    batches.forgetStatus(taskId);
    const fresh = await urlOf(taskId);
    const again = fresh === null ? null : await download(up, downloads, fresh, { headers, maxBytes });
    if (again === null) throw new RefusedResultError();
    return again;
  };

  const fetchWhole = (taskId: string): Promise<Pick<WholeResult, 'bytes' | 'fold'> | null> =>
    limited(async () => {
      const inline = await inlineOf(taskId);
      const answer = inline === null ? await begin(taskId) : null;
      const bytes = answer === null ? inline : await readShared(up, answer);
      if (bytes === null) return null;
      const fold = await openFoldResult(bytes, { mapping: up.settings.mapping }).catch(unreadable);
      return { bytes, fold };
    });

  /** A result for one use, shared while in flight. A failed one is not tried again. */
  const pass = (taskId: string): Promise<FoldResultHandle | null> => {
    const known = held.get(taskId) ?? passing.get(taskId);
    if (known !== undefined) return known;
    const fetching = fetchWhole(taskId).then((whole) => whole?.fold ?? null);
    passing.set(taskId, fetching);
    fetching.then(
      () => passing.delete(taskId),
      () => undefined,
    );
    return fetching;
  };

  /** Stores the scores of a result. @returns a sentence where they are outside 0 to 1 */
  const storeScores = async (taskId: string, { summary }: FoldResultHandle): Promise<TaskScores | string> => {
    const { ptm, iptm, meanPlddt, misfits } = summary;
    const misfit = misfits.ptm ?? misfits.iptm;
    if (misfit !== null) return misfit;
    const scores = { ptm, iptm, meanPlddt };
    // A store that fails costs the next ranking a download, not this one its answer.
    await submissions.saveScores(taskId, scores).catch(() => undefined);
    return scores;
  };

  const readScores = async (taskId: string): Promise<TaskScores | null> => {
    // A store that fails costs a download, not the answer.
    const stored = await submissions.scores(taskId).catch(() => null);
    if (stored !== null) return stored;
    const fold = await pass(taskId);
    if (fold === null) return null;
    if (!held.has(taskId)) fold.close();
    const scores = await storeScores(taskId, fold);
    if (typeof scores !== 'string') return scores;
    throw new UpstreamError(scores, { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false });
  };

  return {
    /** The signed URL of a task's result, as Status gives it. Null when the task has none. */
    url: urlOf,
    /** The result itself, where Status gives it in place of an URL. */
    inline: inlineOf,
    /** Begins a download; null without a result. @param headers - such as `range` */
    download: begin,
    /** The whole result: as it came, opened, and its scores, which are stored. Null without one. */
    async read(taskId: string): Promise<WholeResult | null> {
      const whole = await fetchWhole(taskId);
      return whole === null ? null : { ...whole, scores: await storeScores(taskId, whole.fold) };
    },
    /** The opened result, held for the rest of the request. Null when the task has none. */
    open(taskId: string): Promise<FoldResultHandle | null> {
      const known = held.get(taskId);
      if (known !== undefined) return known;
      const opening = pass(taskId).then((fold) => {
        if (fold !== null) onOpened(fold.close);
        return fold;
      });
      held.set(taskId, opening);
      return opening;
    },
    /** Null without a result. @throws UpstreamError UPSTREAM_DRIFT for scores outside 0 to 1 */
    scores(taskId: string): Promise<TaskScores | null> {
      const reading = scored.get(taskId) ?? readScores(taskId);
      scored.set(taskId, reading);
      return reading;
    },
  };
}
