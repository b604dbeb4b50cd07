// The thread that folds: takes the JSON text of an input, gives back gzipped outputs or the task's
// error, so that the server's own thread only ever moves bytes.
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { type FoldRequest, fold } from '../folding/fold.ts';
import type { ResultForm } from '../folding/rows.ts';
import type { Output } from './store.ts';

/**
 * The order for the thread: a request but for its repeat, as JSON text, which repeat of it, and
 * when it runs.
 */
export interface FoldOrder {
  readonly request: string;
  readonly repeatIndex: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly form: ResultForm;
}

/** The answer of the thread, one for each request, in order. */
export type FoldAnswer = { readonly outputs: readonly Output[] } | { readonly error: string };

const gzipped = (value: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(gzipSync(JSON.stringify(value), { level: 1 }));

async function answer({ request, repeatIndex, createdAt, form }: FoldOrder): Promise<FoldAnswer> {
  const once: Omit<FoldRequest, 'repeatIndex' | 'createdAt' | 'form'> = JSON.parse(request);
  const outcome = await fold({ ...once, repeatIndex, createdAt, form });
  if (!outcome.ok) return { error: JSON.stringify(outcome.error) };
  const { result } = outcome;
  const residues = result.complex.plddt;
  const confidence = {
    ptm: result.ptm,
    interface_ptm: result.interface_ptm,
    mean_plddt: residues.reduce((sum, value) => sum + value, 0) / Math.max(residues.length, 1),
  };
  return {
    outputs: [
      { name: 'response', gzipped: gzipped(result) },
      { name: 'confidence', gzipped: gzipped(confidence) },
    ],
  };
}

parentPort?.on('message', (order: FoldOrder) => {
  void answer(order)
    .catch((error: unknown): FoldAnswer => {
      const reason = error instanceof Error ? error.message : String(error);
      return {
        error: JSON.stringify({ code: 'internal_error', message: `The folding process failed: ${reason}` }),
      };
    })
    .then((result) => parentPort?.postMessage(result));
});
