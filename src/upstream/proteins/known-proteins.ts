// The proteins of one request: the merged records, the failed calls, and which answers were read.
// From these follow the parts that are still open, and the results of a list.
import { setImmediate as turn } from 'node:timers/promises';
import { asError, UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { partValue } from '../part.ts';
import { withParts } from './loaded-parts.ts';
import type { PartName, RequiredParts } from './parts.ts';
import type { NeededParts } from './plan.ts';
import type { ProteinCache } from './protein-cache.ts';
import { mergeRecords, type ProteinRecord, withoutErrors } from './record.ts';
import { unpackRecord } from './record-answer.ts';
import {
  absentFromBoth,
  findMissing,
  findPath,
  missingParts,
  NO_PARTS,
  needsNothing,
  unionParts,
} from './required-parts.ts';

/** The result for a protein of a list. An error stands for one that may not exist. */
export type LoadResult = ProteinRecord | null | Error;

/** A call that failed, and what it should have said of a protein. */
interface Failure {
  readonly needs: RequiredParts;
  readonly error: Error;
}

/** A list of more proteins is long. A page has fewer. */
const MANY = 50;

export class KnownProteins {
  /** Null for a protein that does not exist. */
  readonly #records = new Map<string, ProteinRecord | null>();
  readonly #failures = new Map<string, Failure>();
  /**
   * Errors of archives of which a member was lost, which matter where no record answers instead.
   */
  readonly #damage = new Map<string, Error>();
  /** The proteins whose single records were read. */
  readonly #readRecords = new Set<string>();
  /** By protein, the parts that archives which were read whole were asked for. */
  readonly #readArchives = new Map<string, RequiredParts>();
  /** The cached records, with what the answers add to them. */
  readonly #cacheable = new Map<string, ProteinRecord>();
  readonly #changed = new Set<string>();
  readonly #up: Pick<Upstream, 'onCacheHit' | 'absences'>;
  readonly #cache: ProteinCache;

  constructor(up: Pick<Upstream, 'onCacheHit' | 'absences'>, cache: ProteinCache) {
    this.#up = up;
    this.#cache = cache;
  }

  /** Null for a protein that does not exist, undefined where that is not known. */
  get(hash: string): ProteinRecord | null | undefined {
    return this.#records.get(hash);
  }

  /** The error of the first call that failed for a protein. */
  getFailure(hash: string): Error | undefined {
    return this.#failures.get(hash)?.error;
  }

  /** Whether a call failed that should have said this of a protein. */
  hasFailed(hash: string, part: PartName): boolean {
    return this.#failures.get(hash)?.needs[part] !== undefined;
  }

  /** Adds what an answer said. */
  add(hash: string, record: ProteinRecord | null): void {
    this.addUncached(hash, record);
    if (record === null) return;
    const before = this.#cacheable.get(hash);
    this.#cacheable.set(hash, before ? mergeRecords(before, record) : record);
    this.#changed.add(hash);
  }

  /** The same for what is not cached: absence, and what holds for this request only. */
  addUncached(hash: string, record: ProteinRecord | null): void {
    const before = this.#records.get(hash);
    this.#records.set(hash, before && record ? mergeRecords(before, record) : record);
    if (record === null) this.#up.absences?.add(hash);
  }

  /** Marks the single record of a protein as read. */
  addReadRecord(hash: string): void {
    this.#readRecords.add(hash);
  }

  hasReadRecord(hash: string): boolean {
    return this.#readRecords.has(hash);
  }

  /** Marks an archive as read whole that was asked for these parts of a protein. */
  addReadArchive(hash: string, needs: RequiredParts): void {
    const before = this.#readArchives.get(hash);
    this.#readArchives.set(hash, before === undefined ? needs : unionParts([before, needs]));
  }

  /** Adds the error of an archive of which a member was lost. */
  addDamage(hash: string, error: Error): void {
    this.#damage.set(hash, error);
  }

  /** Adds the error of a call, which is not made again in this request. */
  fail(hash: string, needs: RequiredParts, error: unknown): void {
    const before = this.#failures.get(hash);
    this.#failures.set(hash, {
      needs: before === undefined ? needs : unionParts([before.needs, needs]),
      error: before?.error ?? asError(error),
    });
  }

  /** The needs that are not met and did not fail; undefined where nothing has to be asked. */
  openParts(hash: string, needs: RequiredParts): RequiredParts | undefined {
    const record = this.#records.get(hash);
    const failure = this.#failures.get(hash);
    if (record === null || (record === undefined && failure !== undefined)) return undefined;
    if (record === undefined) return needs;
    const missing = findMissing(record, needs);
    // Folding changes the other parts as well.
    if (missing.fold === true && failure === undefined) return needs;
    const open = failure === undefined ? missing : missingParts(missing, failure.needs);
    return needsNothing(open) ? undefined : open;
  }

  /** The same for many proteins; those of which nothing has to be asked are left out. */
  openNeeds(needed: NeededParts): Map<string, RequiredParts> {
    const open = new Map<string, RequiredParts>();
    for (const [hash, needs] of needed) {
      const parts = this.openParts(hash, needs);
      if (parts !== undefined) open.set(hash, parts);
    }
    return open;
  }

  /** Adds the cached parts of proteins, and the open parts of answers that were loaded before. */
  async addLoaded(open: NeededParts): Promise<void> {
    if (open.size === 0) return;
    const cached = await this.#cache.getMany([...open.keys()]);
    if (cached.length > 0) this.#up.onCacheHit?.('proteins', cached.length);
    for (const record of cached) {
      const newer = this.#records.get(record.hash);
      this.#records.set(record.hash, newer ? mergeRecords(record, newer) : record);
      this.#cacheable.set(record.hash, record);
    }
    for (const [hash, needs] of open) await this.#unpack(hash, needs);
  }

  /** Reads open parts from the answer of a protein, except those that are wrong in it. */
  async #unpack(hash: string, needs: RequiredParts): Promise<void> {
    const record = this.#records.get(hash);
    const parts = this.openParts(hash, needs);
    if (record?.answer === undefined || parts === undefined) return;
    const found = unpackRecord(hash, record.answer, parts);
    if (found === undefined) return;
    this.#records.set(hash, mergeRecords(withoutErrors(found), record));
    // Reading takes half a millisecond: the records of a list are read in turns of their own.
    await turn();
  }

  /** Caches what the answers have added. */
  store(): void {
    const isMany = this.#changed.size > MANY;
    for (const hash of this.#changed) {
      const record = this.#cacheable.get(hash);
      if (record === undefined || this.#records.get(hash) === null) continue;
      // One bulk call brings hundreds again; a single record is a call of its own.
      this.#cache.set(record, isMany && !this.#readRecords.has(hash));
    }
    this.#changed.clear();
  }

  /** The results of a list after all calls; a protein that is repeated is one object. */
  results(hashes: readonly string[], needs: RequiredParts): readonly LoadResult[] {
    const results = new Map<string, LoadResult>();
    for (const hash of hashes) if (!results.has(hash)) results.set(hash, this.#result(hash, needs));
    return hashes.map((hash) => results.get(hash) ?? null);
  }

  #result(hash: string, needs: RequiredParts): LoadResult {
    const record = this.#records.get(hash);
    if (record === null) return null;
    const failure = this.#failures.get(hash);
    const mayPass = failure?.error instanceof UpstreamError && failure.error.failure.retryable;
    // A record that may be there in a moment makes up for the archive.
    const error = mayPass ? failure.error : (this.#damage.get(hash) ?? failure?.error);
    if (record === undefined)
      return error ?? drift('The upstream answered, but did not say whether it holds this protein.');
    const missing = findMissing(record, needs);
    if (needsNothing(missing)) return record;
    if (missing.fold === true && error !== undefined) return error;
    // The call that would have said it may have failed, although another one was answered.
    const unsaid = failure === undefined ? missing : missingParts(missing, failure.needs);
    const absent = this.#readRecords.has(hash)
      ? absentFromBoth(unsaid, this.#readArchives.get(hash) ?? NO_PARTS)
      : NO_PARTS;
    const complete = needsNothing(absent) ? record : withParts(record, absent, null);
    const open = missingParts(missing, absent);
    return needsNothing(open) ? complete : withParts(complete, open, error ?? unanswered(open));
  }
}

const drift = (message: string): UpstreamError =>
  new UpstreamError(message, { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false });

const unanswered = (open: RequiredParts): UpstreamError =>
  drift(
    `The upstream's answer to protein has changed at ${findPath(open)}: expected a value, seen ` +
      'nothing; its bulk archive has none either.',
  );

/** Whether what is known came from the cache, so that it need not be cached again. */
export const isFromCache = ({ from }: ProteinRecord): boolean => partValue(from)?.fromCache === true;
