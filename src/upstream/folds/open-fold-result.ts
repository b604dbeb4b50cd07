// A folding result to query: small ones on this thread, large ones in a worker, behind the same
// interface, so that a PAE of a thousand tokens never blocks the event loop.
import type { PaeRange } from '../../structure/fold/pae.ts';
import { type FoldQuery, type FoldQueryResult, runFoldQuery } from '../../structure/fold/queries.ts';
import { UpstreamError } from '../errors.ts';
import { toSharedBuffer } from '../http/response-body.ts';
import { createWorker } from '../json/worker-thread.ts';
import type { FoldReply, FoldRequest } from './fold-worker.ts';
import { readFold } from './read-fold.ts';

/** One folding result. Methods may be called also after `close`, which frees memory early. */
export type FoldResultHandle = Awaited<ReturnType<typeof openFoldResult>>;

/** @throws UpstreamError UPSTREAM_DRIFT when there is a misfit: a part that cannot be trusted */
export function checkedPart<T>(part: T, misfit: string | null): T {
  if (misfit === null) return part;
  throw new UpstreamError(misfit, { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false });
}

type Asker = (question: FoldQuery) => Promise<unknown>;

/** Half a mebibyte of JSON parses in about 5 ms; its structure is written in about 10 ms. */
const THREAD_ABOVE = 512 * 1024;

const ask = createWorker('upstream/folds/fold-worker');
let lastFold = 0;

function askHere(bytes: Uint8Array): Asker {
  const result = readFold(bytes);
  return async (question) => runFoldQuery(result, question);
}

function askThread(fold: number, bytes: Uint8Array): Asker {
  const shared = toSharedBuffer(bytes);
  const send = (request: FoldRequest) => ask(request) as Promise<FoldReply>;
  return async (question) => {
    const first = await send({ fold, question });
    if (first.held) return first.answer;
    const second = await send({ fold, question, bytes: shared });
    if (second.held) return second.answer;
    throw new Error('The thread did not keep the result.');
  };
}

/** A separate function, so that the closure does not hold the result. */
const closing = (fold: number) => () => {
  ask({ fold, close: true } satisfies FoldRequest).catch(() => undefined);
};

/**
 * Opens the folding-result JSON that a finished task's signed URL gives.
 *
 * @param bytes - held as long as the handle; do not change them
 * @param options.threadAboveBytes - a longer result is held in a thread; 512 KiB by default
 * @throws JsonError
 */
export async function openFoldResult(
  bytes: Uint8Array,
  options: { readonly threadAboveBytes?: number } = {},
) {
  const large = bytes.byteLength > (options.threadAboveBytes ?? THREAD_ABOVE);
  const fold = ++lastFold;
  const place = large ? askThread(fold, bytes) : askHere(bytes);
  const asker = <K extends FoldQuery['ask']>(question: FoldQuery & { readonly ask: K }) =>
    place(question) as Promise<FoldQueryResult[K]>;
  const summary = await asker({ ask: 'summary' });
  return {
    /** Scores, chains, sizes: read once, when the result was opened. */
    summary,
    /** By token, 0 to 1, with the upstream's nulls at chain breaks; null when none fits. */
    plddt: () => asker({ ask: 'plddt' }),
    /** By token. Null without a PAE that fits. Rejects with RangeError for an invalid range. */
    paeBlock: (range: PaeRange = {}) => asker({ ask: 'paeBlock', range }),
    /** Mean PAE of all ordered pairs of chains, each with itself included; empty without PAE. */
    paeChainPairs: () => asker({ ask: 'paeChainPairs' }),
    /** The embeddings by token; null when they do not fit. */
    vectors: () => asker({ ask: 'vectors' }),
    mmcif: () => asker({ ask: 'mmcif' }),
    /** `ok: false` with the reason where the format's columns are too narrow. */
    pdb: () => asker({ ask: 'pdb' }),
    /** The JSON, or its part at a dotted path; null where absent. */
    raw: (path?: string) => asker({ ask: 'raw', path }),
    close: large ? closing(fold) : () => undefined,
  };
}
