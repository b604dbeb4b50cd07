// Worker thread that holds large folding results and answers queries on them: an LRU cache of
// parsed results within a budget. After an eviction the main thread sends the bytes again.
import { LRUCache } from 'lru-cache';
import { type FoldQuery, runFoldQuery } from '../../structure/fold/queries.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { handleWorkerMessages } from '../json/worker-thread.ts';
import { readFold } from './read-fold.ts';

/** A query on one result by number, with its bytes when the thread may not hold it. */
export type FoldRequest =
  | { readonly fold: number; readonly question: FoldQuery; readonly bytes?: Uint8Array }
  | { readonly fold: number; readonly close: true };

/** `held: false` requests the bytes. */
export type FoldReply = { readonly held: false } | { readonly held: true; readonly answer: unknown };

/** Bytes of JSON whose parsed results may be held; parsed they take two to four times as much. */
const BUDGET = 96 * 1024 ** 2;

const held = new LRUCache<number, FoldingResult>({ maxSize: BUDGET });

function reply(request: FoldRequest): FoldReply {
  const { fold } = request;
  if ('close' in request) {
    held.delete(fold);
    return { held: true, answer: null };
  }
  let result = held.get(fold);
  if (result === undefined) {
    const { bytes } = request;
    if (bytes === undefined) return { held: false };
    result = readFold(bytes);
    held.set(fold, result, { size: bytes.byteLength });
  }
  return { held: true, answer: runFoldQuery(result, request.question) };
}

handleWorkerMessages((request) => reply(request as FoldRequest));
