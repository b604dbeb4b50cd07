// Worker thread that holds large folding results and answers queries on them: an LRU cache of
// parsed results within a budget. One that was evicted is parsed again.
import { LRUCache } from 'lru-cache';
import { type FoldQuery, runFoldQuery } from '../../structure/fold/queries.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { handleWorkerMessages } from '../json/worker-thread.ts';
import type { WireMapping } from '../renames.ts';
import { readFold } from './read-fold.ts';

/** A query on one result by number, with its bytes. */
export type FoldRequest =
  | {
      readonly fold: number;
      readonly question: FoldQuery;
      readonly bytes: Uint8Array;
      readonly mapping: WireMapping | undefined;
    }
  | { readonly fold: number; readonly close: true };

/** Bytes of JSON whose parsed results may be held; parsed they take two to four times as much. */
const BUDGET = 96 * 1024 ** 2;

const held = new LRUCache<number, FoldingResult>({ maxSize: BUDGET });

function reply(request: FoldRequest): unknown {
  const { fold } = request;
  if ('close' in request) return held.delete(fold);
  const { bytes, mapping, question } = request;
  let result = held.get(fold);
  if (result === undefined) {
    result = readFold(bytes, mapping);
    held.set(fold, result, { size: bytes.byteLength });
  }
  return runFoldQuery(result, question);
}

handleWorkerMessages((request) => reply(request as FoldRequest));
