// Reads the JSON of a folding result: a small one at once, a large one in a worker.
import { isFoldingResult } from '../../structure/fold/fields.ts';
import { type FoldingResult, readFoldingResult } from '../../structure/fold/result.ts';
import { MATRIX_BOUNDS, parseJsonSync } from '../json/parse-json.ts';
import { runInWorker, WORKER_ABOVE_BYTES } from '../json/worker-pool.ts';

/** Reads a result on this thread. @throws SyntaxError, also for JSON that is no folding result */
export function readFoldSync(bytes: Uint8Array): FoldingResult {
  const value = parseJsonSync(bytes, MATRIX_BOUNDS);
  if (!isFoldingResult(value)) throw new SyntaxError('It has no structure, score or embedding.');
  return readFoldingResult(value);
}

/**
 * Reads the result that the signed URL of a finished task gives.
 *
 * @param options.workerAboveBytes - a longer result is read in a worker; 1 MiB by default
 * @throws SyntaxError, also for JSON that is no folding result
 */
export async function readFold(
  bytes: Uint8Array,
  { workerAboveBytes = WORKER_ABOVE_BYTES }: { readonly workerAboveBytes?: number } = {},
): Promise<FoldingResult> {
  return bytes.byteLength > workerAboveBytes
    ? (runInWorker('upstream/folds/fold-worker', bytes) as Promise<FoldingResult>)
    : readFoldSync(bytes);
}
