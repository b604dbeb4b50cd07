// Results of finished tasks for one request: the JSON behind the signed URL, downloaded once and
// without a token. The ledger stores scalar scores.
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { LedgerChain, TaskScores } from '../../store/ledger/ledger.ts';
import type { Submissions } from '../../store/ledger/submissions.ts';
import { selectBestPairs } from '../../structure/fold/interface-scores.ts';
import { nameOnlyChain } from '../../structure/fold/only-chain.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import type { StreamedResponse, Upstream } from '../http/call.ts';
import { download, openDownload } from '../http/download.ts';
import type { BatchReader } from './batch-reader.ts';
import { compareChains } from './compare-chains.ts';
import { locateMisfits, RefusedResultError, toUnreadable, untrustedPart } from './fold-errors.ts';
import { readFold } from './read-fold.ts';

export type ResultReader = Pick<BatchReader, 'status' | 'forgetStatus'>;

export interface WholeResult {
  /** As it came. */
  readonly bytes: Uint8Array;
  readonly fold: FoldingResult;
  /** A sentence when they are outside 0 to 1. */
  readonly scores: TaskScores | string;
}

/** A result that is kept for the fields of a request. */
interface KeptResult {
  readonly size: number;
  readonly fold: FoldingResult;
}

/** Every method returns null for a task without a result. */
export interface FoldResults {
  /** The signed URL; null also where Status gives the result itself. */
  url(taskId: string): Promise<string | null>;
  /** The result, where Status gives it in place of a URL. */
  inline(taskId: string): Promise<Uint8Array | null>;
  /** Starts a download. @param headers - such as `range` */
  download(taskId: string, headers?: Readonly<Record<string, string>>): Promise<StreamedResponse | null>;
  /** Downloads the whole result, keeps nothing of it, and stores its scores. */
  read(taskId: string): Promise<WholeResult | null>;
  /** The result, downloaded once in a request and kept until its end. */
  open(taskId: string): Promise<FoldingResult | null>;
  /** The scores, if need be from the result. @throws UpstreamError for scores outside 0 to 1 */
  scores(taskId: string): Promise<TaskScores | null>;
}

const MAX_CONCURRENT = 8;

/** Bytes of results that were read for their scores and are kept for fields that may follow. */
const MAX_KEPT_BYTES = 16 * 1024 ** 2;

/** A result: a signed URL, or JSON that stood in the answer. */
type TaskResult = { readonly url: string } | { readonly json: string };

/** Reads `response` of Status: a signed URL, an inline object or inline text. Null without one. */
export function readResponse(response: unknown): TaskResult | null {
  if (response === null || response === undefined) return null;
  if (typeof response !== 'string') return { json: JSON.stringify(response) };
  const text = response.trim();
  return /^[[{"]/.test(text) || /\s/.test(text) ? { json: text } : { url: text };
}

/** The scores of a result; a sentence when they are outside 0 to 1. */
function toScores({ ptm, iptm, meanPlddt, chainPairs, misfits }: FoldingResult): TaskScores | string {
  return misfits.ptm ?? misfits.iptm ?? { ptm, iptm, meanPlddt, chainPairs: selectBestPairs(chainPairs) };
}

/** Creates the reader of one request. */
export function createFoldResults(
  up: Upstream,
  batches: ResultReader,
  submissions: Submissions,
): FoldResults {
  const results = new Map<string, Promise<KeptResult | null>>();
  /** Tasks whose result stays in `results` until the end of the request. */
  const kept = new Set<string>();
  let keptBytes = 0;
  const scores = new Map<string, Promise<TaskScores | null>>();
  const limited = createConcurrencyLimit(MAX_CONCURRENT);

  async function readResult(taskId: string): Promise<TaskResult | null> {
    return readResponse((await batches.status(taskId))?.data.response);
  }

  async function readUrl(taskId: string): Promise<string | null> {
    const result = await readResult(taskId);
    return result !== null && 'url' in result ? result.url : null;
  }

  async function readInline(taskId: string): Promise<Uint8Array | null> {
    const result = await readResult(taskId);
    return result !== null && 'json' in result ? Buffer.from(result.json) : null;
  }

  /** Opens the signed URL of a task; a signature that has expired is renewed once. */
  async function openUrl<T>(taskId: string, open: (url: string) => Promise<T | null>): Promise<T | null> {
    const url = await readUrl(taskId);
    if (url === null) return null;
    const opened = await open(url);
    if (opened !== null) return opened;
    batches.forgetStatus(taskId);
    const fresh = await readUrl(taskId);
    const again = fresh === null ? null : await open(fresh);
    if (again === null) throw new RefusedResultError();
    return again;
  }

  const readBody = async (taskId: string): Promise<Uint8Array | null> =>
    (await readInline(taskId)) ?? openUrl(taskId, (url) => download(up, url));

  /** The chains of a task's item; none where it was not submitted here. */
  async function submittedChains(taskId: string): Promise<readonly LedgerChain[]> {
    const place = await submissions.findTask(taskId);
    const batch = place && (await submissions.batch(place.batchId));
    const item = batch && (await submissions.item(batch.batchId, place.index % batch.itemCount));
    return item?.chains ?? [];
  }

  async function parse(taskId: string, bytes: Uint8Array): Promise<FoldingResult> {
    const fold = await readFold(bytes).catch((error: unknown) => {
      throw toUnreadable(error, taskId);
    });
    // A store that fails costs the name and the comparison, not the result.
    const submitted = await submittedChains(taskId).catch(() => []);
    const ids = submitted.flatMap((chain) => chain.ids);
    return locateMisfits(compareChains(nameOnlyChain(fold, ids), submitted), taskId);
  }

  async function readForFields(taskId: string): Promise<KeptResult | null> {
    const bytes = await readBody(taskId);
    return bytes && { size: bytes.byteLength, fold: await parse(taskId, bytes) };
  }

  function readOnce(taskId: string): Promise<KeptResult | null> {
    const reading = results.get(taskId) ?? limited(() => readForFields(taskId));
    results.set(taskId, reading);
    return reading;
  }

  /** A ranking reads up to 2,000 results: a later field downloads again what did not fit. */
  function keepIfSmall(taskId: string, { size }: KeptResult): void {
    if (kept.has(taskId)) return;
    if (keptBytes + size > MAX_KEPT_BYTES) {
      results.delete(taskId);
    } else {
      keptBytes += size;
      kept.add(taskId);
    }
  }

  async function storeScores(taskId: string, fold: FoldingResult): Promise<TaskScores | string> {
    const found = toScores(fold);
    // A store that fails costs the next ranking a download, not this one its answer.
    if (typeof found !== 'string') await submissions.saveScores(taskId, found).catch(() => undefined);
    return found;
  }

  async function loadScores(taskId: string): Promise<TaskScores | null> {
    // A store that fails costs a download, not the answer.
    const stored = await submissions.scores(taskId).catch(() => null);
    if (stored !== null) return stored;
    const result = await readOnce(taskId);
    if (result === null) return null;
    keepIfSmall(taskId, result);
    const found = await storeScores(taskId, result.fold);
    if (typeof found === 'string') throw untrustedPart(found);
    return found;
  }

  async function readWhole(taskId: string): Promise<WholeResult | null> {
    const bytes = await readBody(taskId);
    if (bytes === null) return null;
    const fold = await parse(taskId, bytes);
    return { bytes, fold, scores: await storeScores(taskId, fold) };
  }

  return {
    url: readUrl,
    inline: readInline,
    download: (taskId, headers) => openUrl(taskId, (url) => openDownload(up, url, { headers })),
    read: (taskId) => limited(() => readWhole(taskId)),
    async open(taskId) {
      kept.add(taskId);
      return (await readOnce(taskId))?.fold ?? null;
    },
    scores(taskId) {
      const loading = scores.get(taskId) ?? loadScores(taskId);
      scores.set(taskId, loading);
      return loading;
    },
  };
}
