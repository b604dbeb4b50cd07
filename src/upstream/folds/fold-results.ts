// Results of finished tasks for one request: downloads the JSON behind the signed URL once, without
// a token, and again with a fresh signature when the first has expired. The store caches scalar
// scores.
import pLimit from 'p-limit';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import type { Submissions } from '../../store/ledger/submissions.ts';
import { UpstreamError } from '../errors.ts';
import { type Downloads, download } from '../http/download.ts';
import { readShared } from '../http/response-body.ts';
import type { StreamedResponse, Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import { JsonError } from '../json/lenient-json.ts';
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

interface OpenedResult {
  readonly bytes: Uint8Array;
  readonly fold: FoldResultHandle;
}

/** Close its `fold` after use. */
export interface WholeResult extends OpenedResult {
  /** A sentence where they are outside 0 to 1. */
  readonly scores: TaskScores | string;
}

export type FoldResults = ReturnType<typeof createFoldResults>;

const AT_ONCE = 8;

/**
 * Bytes of results that were read for their scores and stay open for the fields that may follow. A
 * ranking reads up to 2,000.
 */
const MAX_KEPT_BYTES = 16 * 1024 ** 2;

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
  const opened = new Map<string, Promise<OpenedResult | null>>();
  /** Tasks whose result stays open until the end of the request. */
  const kept = new Set<string>();
  let keptBytes = 0;
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

  /** A URL signed earlier in this request may have expired; a fresh one fails for good. */
  const begin = async (
    taskId: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<StreamedResponse | null> => {
    const url = await urlOf(taskId);
    if (url === null) return null;
    const answer = await download(up, downloads, url, { headers });
    if (answer !== null) return answer;
    batches.forgetStatus(taskId);
    const fresh = await urlOf(taskId);
    const again = fresh === null ? null : await download(up, downloads, fresh, { headers });
    if (again === null) throw new RefusedResultError();
    return again;
  };

  const fetchWhole = (taskId: string): Promise<OpenedResult | null> =>
    limited(async () => {
      const inline = await inlineOf(taskId);
      const answer = inline === null ? await begin(taskId) : null;
      const bytes = answer === null ? inline : await readShared(up, answer);
      if (bytes === null) return null;
      const fold = await openFoldResult(bytes).catch(unreadable);
      return { bytes, fold };
    });

  /** Downloads a result once for all that read it. A failure is not tried again. */
  const openOnce = (taskId: string): Promise<OpenedResult | null> => {
    const opening = opened.get(taskId) ?? fetchWhole(taskId);
    opened.set(taskId, opening);
    return opening;
  };

  /** Closes a result that was read for its scores alone, unless there is room to keep it. */
  const releaseAfterScores = (taskId: string, { bytes, fold }: OpenedResult): void => {
    if (kept.has(taskId)) return;
    if (keptBytes + bytes.byteLength <= MAX_KEPT_BYTES) {
      keptBytes += bytes.byteLength;
      kept.add(taskId);
      onOpened(fold.close);
    } else {
      opened.delete(taskId);
      fold.close();
    }
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
    const result = await openOnce(taskId);
    if (result === null) return null;
    releaseAfterScores(taskId, result);
    const scores = await storeScores(taskId, result.fold);
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
    /** The opened result, kept for the rest of the request. Null when the task has none. */
    async open(taskId: string): Promise<FoldResultHandle | null> {
      const opening = openOnce(taskId);
      const isNew = !kept.has(taskId);
      kept.add(taskId);
      const result = await opening;
      if (result !== null && isNew) onOpened(result.fold.close);
      return result?.fold ?? null;
    },
    /** Null without a result. @throws UpstreamError UPSTREAM_DRIFT for scores outside 0 to 1 */
    scores(taskId: string): Promise<TaskScores | null> {
      const reading = scored.get(taskId) ?? readScores(taskId);
      scored.set(taskId, reading);
      return reading;
    },
  };
}
