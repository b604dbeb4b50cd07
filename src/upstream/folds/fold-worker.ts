// Worker thread that holds large folding results and answers queries on them: an LRU cache of
// parsed results within a budget. After an eviction the main thread sends the bytes again.
import { type FoldQuery, runFoldQuery } from '../../structure/fold/queries.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { handleWorkerMessages } from '../json/worker-thread.ts';
import type { WireMapping } from '../renames.ts';
import { readFold } from './read-fold.ts';

/** A query on one result by number, with its bytes when the thread may not hold it. */
export type FoldRequest =
  | {
      readonly fold: number;
      readonly question: FoldQuery;
      readonly bytes?: Uint8Array;
      readonly mapping?: WireMapping | undefined;
    }
  | { readonly fold: number; readonly close: true };

/** `held: false` requests the bytes. */
export type FoldReply = { readonly held: false } | { readonly held: true; readonly answer: unknown };

/** Bytes of JSON whose parsed results may be held; parsed they take two to four times as much. */
const BUDGET = 96 * 1024 ** 2;

const held = new Map<number, { readonly result: FoldingResult; readonly bytes: number }>();

function hold(fold: number, bytes: Uint8Array, mapping: WireMapping | undefined): FoldingResult {
  const result = readFold(bytes, mapping);
  held.set(fold, { result, bytes: bytes.byteLength });
  let total = [...held.values()].reduce((sum, one) => sum + one.bytes, 0);
  for (const [other, one] of held) {
    if (total <= BUDGET) break;
    held.delete(other);
    total -= one.bytes;
  }
  return result;
}

function reply(request: FoldRequest): FoldReply {
  const { fold } = request;
  const found = held.get(fold);
  held.delete(fold);
  if ('close' in request) return { held: true, answer: null };
  // Set again, so that the order of the map is the order of use.
  if (found !== undefined) held.set(fold, found);
  if (found === undefined && request.bytes === undefined) return { held: false };
  const result = found?.result ?? hold(fold, request.bytes ?? new Uint8Array(), request.mapping);
  return { held: true, answer: runFoldQuery(result, request.question) };
}

handleWorkerMessages((request) => reply(request as FoldRequest));
