// A record whose structure is folded when it is missing, which may come with a later answer.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedCall } from '../../async/single-flight.ts';
import * as atlas from '../atlas.ts';
import { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { isFields } from '../json/is-fields.ts';
import type { LoadedRecord } from './read-record.ts';

/** Proteins that one query may have folded. */
export const MAX_FOLDS = 20;

const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;
const PAUSE_GROWTH = 1.6;

/** Whether folding has begun and the structure is not there yet. */
const isComing = (found: LoadedRecord | null): boolean =>
  isFields(found?.raw) && found.raw.folded_on_demand === true && found.raw.pdb == null;

const tooLate = (hash: string): UpstreamError =>
  new UpstreamError(
    `The Atlas is still folding ${hash}. Ask again in a moment: what has begun goes on by itself.`,
    { operation: 'protein', code: 'UPSTREAM_TIMEOUT', retryable: true },
  );

/** The error of a query that needs too many folds. */
export const tooManyFolds = (count: number): UpstreamError =>
  new UpstreamError(
    `\`foldOnMiss\` is asked for ${count} proteins at once; at most ${MAX_FOLDS} fit in one query. ` +
      'Use submitFold for many.',
    { operation: 'protein', code: 'BAD_USER_INPUT', retryable: false },
  );

/**
 * Reads a record, and reads it again until a structure that is being made is there.
 *
 * @throws UpstreamError UPSTREAM_TIMEOUT for a caller whose time is up before that
 */
export async function readFolded(
  up: Upstream,
  hash: string,
  query: atlas.ProteinQuery,
  run: SharedCall,
): Promise<LoadedRecord | null> {
  const own = { ...up, signal: run.signal };
  let found = await atlas.protein(own, hash, query);
  if (!query.foldOnMiss) return found;
  for (let pause = MIN_PAUSE_MS; isComing(found); pause = Math.min(pause * PAUSE_GROWTH, MAX_PAUSE_MS)) {
    run.onAbort(() => tooLate(hash));
    await sleep(pause, undefined, { signal: run.signal });
    found = await atlas.protein(own, hash, query);
  }
  return found;
}
