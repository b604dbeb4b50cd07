// Reads the JSON of a folding result: a small one at once, a large one in a worker.
import { isFoldingResult } from '../../structure/fold/fields.ts';
import { type FoldingResult, readFoldingResult } from '../../structure/fold/result.ts';
import { JsonError, parseLenient } from '../json/lenient-json.ts';
import { createWorker } from '../json/worker-thread.ts';

/** A longer result is read in a worker. A mebibyte of JSON is parsed in about 10 ms. */
const WORKER_ABOVE_BYTES = 1024 * 1024;

const askWorker = createWorker('upstream/folds/fold-worker');

/** Reads a result on this thread. @throws JsonError, also for JSON that is no folding result */
export function readFoldSync(bytes: Uint8Array): FoldingResult {
  const value = parseLenient(new TextDecoder().decode(bytes));
  if (!isFoldingResult(value)) throw new JsonError('It has no structure, score or embedding.');
  return readFoldingResult(value);
}

/**
 * Reads the result that the signed URL of a finished task gives.
 *
 * @param options.workerAboveBytes - a longer result is read in a worker; 1 MiB by default
 * @throws JsonError, also for JSON that is no folding result
 */
export async function readFold(
  bytes: Uint8Array,
  { workerAboveBytes = WORKER_ABOVE_BYTES }: { readonly workerAboveBytes?: number } = {},
): Promise<FoldingResult> {
  return bytes.byteLength > workerAboveBytes
    ? (askWorker(bytes) as Promise<FoldingResult>)
    : readFoldSync(bytes);
}
