// A bulk archive as a stream of records, one protein's part at a time, to hold little memory.
import { JsonError } from '../json/lenient-json.ts';
import { archiveName, type WireMapping } from '../renames.ts';
import { ArchiveError } from './archive-limits.ts';
import { type BulkOptions, readMember, type Tell } from './bulk-members.ts';
import { readStructure } from './bulk-record.ts';
import { readZip } from './zip.ts';
import type { CompressedEntryText, ZipEntry } from './zip-entry.ts';

/** Faults after which an archive is given up. */
const MAX_PROBLEMS = 100;

const STRUCTURE = /^[0-9a-f]{32}\.pdb$/i;

/** The protein whose structure a member is; undefined where it is something else. */
function structureHash(name: string, mapping: WireMapping | undefined): string | undefined {
  const slash = name.indexOf('/');
  if (slash === -1 || archiveName(mapping, name.slice(0, slash)) !== 'structures') return undefined;
  return STRUCTURE.test(name.slice(slash + 1)) ? name.slice(slash + 1, slash + 33).toLowerCase() : undefined;
}

/**
 * Reads the archive of `POST /proteins/batch` (spec, Bulk lookup). Skips unknown members and keys.
 * Damage becomes a `problem` record, and whole parts still follow; only a failing source throws.
 *
 * @param onRecord - called with each record; a generator would make several promises for each of
 *   thousands
 */
export async function readBulkRecords(
  source: AsyncIterable<Uint8Array>,
  options: BulkOptions,
  onRecord: Tell,
): Promise<void> {
  let problemCount = 0;
  const tell: Tell = (record) => {
    if (record.part === 'problem') {
      if (options.isDone?.() === true) return;
      problemCount += 1;
      if (problemCount > MAX_PROBLEMS) throw new ArchiveError('limit', 'The archive has too many faults.');
    } else if ('hash' in record && options.hashes?.has(record.hash) === false) return;
    onRecord(record);
  };
  const reported = new Set<string>();
  // A damaged entry at the end is reported twice: when read, and when looking for the next.
  const onProblem = (problem: ArchiveError): void => {
    const name = `${problem.code} ${problem.entry ?? ''}`;
    if (reported.has(name) && problem.code !== 'content') return;
    reported.add(name);
    tell({ part: 'problem', problem });
  };
  const tellDamage = (error: unknown, name: string): void => {
    const problem = error instanceof JsonError ? new ArchiveError('content', error.message, name) : error;
    if (!(problem instanceof ArchiveError)) throw problem;
    onProblem(problem);
  };
  // Synchronous where possible: an archive holds hundreds of structures.
  const whole = ({ name }: ZipEntry, read: () => Promise<void> | void): Promise<void> | void => {
    try {
      return read()?.then(options.onPause, (error: unknown) => tellDamage(error, name));
    } catch (error) {
      tellDamage(error, name);
    }
  };
  let hasStructures = false;
  const onEntry = (entry: ZipEntry): Promise<void> | void => {
    if (options.isDone?.() === true) return;
    const hash = structureHash(entry.name, options.mapping);
    if (hash === undefined) return whole(entry, () => readMember(entry, options, tell));
    if (!hasStructures) tell({ part: 'member', member: 'structures' });
    hasStructures = true;
    if (options.hashes?.has(hash) === false) return;
    const tellStructure = (text: CompressedEntryText): void =>
      tell({ part: 'structure', hash, structure: readStructure(text) });
    return whole(entry, () => {
      const packed = entry.packed();
      return packed instanceof Promise ? packed.then(tellStructure) : tellStructure(packed);
    });
  };
  try {
    await readZip(source, onEntry, { ...options.limits, onProblem, onWait: options.onPause });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    if (problemCount <= MAX_PROBLEMS) onProblem(error);
  }
}
