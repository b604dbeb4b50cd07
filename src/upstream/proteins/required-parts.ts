// The parts of proteins that are needed, as a small algebra: needs are joined, compared and
// subtracted.
import { type ArchiveMember, type Held, heldBy, PARTS, type PartName, type RequiredParts } from './parts.ts';
import type { ProteinRecord } from './record.ts';

/** Keys of the table only: TypeScript's Object.keys does not say so. */
export const partNames = (needs: RequiredParts): PartName[] => Object.keys(needs) as PartName[];

export const NO_PARTS: RequiredParts = {};

/** Whether nothing is needed. */
export const needsNothing = (needs: RequiredParts): boolean => partNames(needs).length === 0;

/** All that any of them needs. */
export function unionParts(all: Iterable<RequiredParts>): RequiredParts {
  // The proteins of a list mostly have their needs by the same object.
  const different = new Set(all);
  const [first = NO_PARTS] = different;
  if (different.size <= 1) return first;
  const joined: Partial<Record<PartName, true | number | readonly number[]>> = {};
  for (const needs of different) {
    for (const name of partNames(needs)) {
      const [before, more] = [joined[name], needs[name]];
      if (typeof more === 'number') joined[name] = Math.max(more, Number(before ?? 0));
      else if (typeof more === 'object')
        joined[name] = [...new Set([...(typeof before === 'object' ? before : []), ...more])];
      else if (more) joined[name] = true;
    }
  }
  return joined as RequiredParts;
}

type Needed = NonNullable<RequiredParts[PartName]>;

/** Whether what is held of a part is enough. */
function isEnough(needed: Needed, held: Held): boolean {
  if (held === 'all' || held === true) return true;
  if (typeof needed === 'number') return typeof held === 'number' && needed <= held;
  return typeof needed === 'object' && typeof held === 'object' && needed.every((row) => held.includes(row));
}

/** The needs that pass a test. */
const pickParts = (needs: RequiredParts, isWanted: (name: PartName) => boolean): RequiredParts =>
  Object.fromEntries(partNames(needs).flatMap((name) => (isWanted(name) ? [[name, needs[name]]] : [])));

function subtract(needs: RequiredParts, heldOf: (name: PartName) => Held): RequiredParts {
  const isMissing = (name: PartName): boolean => {
    const needed = needs[name];
    const { within } = PARTS[name];
    if (needed === undefined || isEnough(needed, heldOf(name))) return false;
    return within === undefined || !isEnough(needed, heldOf(within));
  };
  // The usual case, for each protein of a list.
  if (!partNames(needs).some(isMissing)) return NO_PARTS;
  const missing = pickParts(needs, isMissing);
  const held = missing.rows && heldOf('rows');
  if (missing.rows === undefined || typeof held !== 'object') return missing;
  return { ...missing, rows: missing.rows.filter((row) => !held.includes(row)) };
}

/** The needs that others do not include. */
export const missingParts = (needs: RequiredParts, others: RequiredParts): RequiredParts =>
  subtract(needs, (name) => others[name]);

/** The needs that a record does not meet. A part that failed is not asked for again. */
export const findMissing = (record: ProteinRecord, needs: RequiredParts): RequiredParts =>
  subtract(needs, (name) => heldBy(record, name));

/** Whether only `GET /proteins/{hash}` can give it. */
export const needsRecord = (needs: RequiredParts): boolean =>
  partNames(needs).some((name) => PARTS[name].archive === undefined);

const isIn = (name: PartName, member: ArchiveMember): boolean => PARTS[name].archive === member;

const needsMember = (needs: RequiredParts, member: ArchiveMember): boolean =>
  partNames(needs).some((name) => isIn(name, member));

/** Whether the list of sequences, which every archive has, says all that is needed. */
export const needsSequenceOnly = (needs: RequiredParts): boolean =>
  partNames(needs).every((name) => isIn(name, 'sequences'));

/** Whether its cluster is needed, of which a record knows less than an archive. */
export const needsCluster = (needs: RequiredParts): boolean => needsMember(needs, 'clusters');

/** Whether its structure is needed, which is where an archive has pTM and mean pLDDT. */
export const needsStructure = (needs: RequiredParts): boolean => needsMember(needs, 'structures');

/** Whether activations along the sequence are needed, which are most of an archive. */
export const needsRows = (needs: RequiredParts): boolean => needsMember(needs, 'rows');

/** The needs that an archive may meet where a record does not; a link is met by its cluster. */
export function inArchive(needs: RequiredParts): RequiredParts {
  const met = pickParts(needs, (name) => PARTS[name].archive !== undefined && name !== 'link');
  return needsCluster(needs) ? { ...met, cluster: true } : met;
}

/**
 * The needs that neither the record nor an archive has, which was asked for others: there is none.
 */
export const absentFromBoth = (needs: RequiredParts, asked: RequiredParts): RequiredParts =>
  pickParts(
    needs,
    (name) => (isIn(name, 'structures') && needsStructure(asked)) || (isIn(name, 'rows') && needsRows(asked)),
  );

/** Where the record has the first of the needs that it tells of. */
export const findPath = (needs: RequiredParts): string =>
  partNames(needs)
    .map((name) => PARTS[name].path)
    .find((path) => path !== undefined) ?? '$';

/** Whether top features are needed, or activations on their scale. */
export const needsRanking = (needs: RequiredParts): boolean =>
  needs.features !== undefined || needs.regions !== undefined || needsRows(needs);

/** The service has at most 100 top features. */
const ALL_FEATURES = 100;

/**
 * The largest number of top features that any part of the needs speaks of; at least 1. The record
 * as it came has all of them, so that it is the same whatever else is needed.
 */
export const topFeatureCount = (needs: RequiredParts): number =>
  needs.record === true || needs.fold === true
    ? ALL_FEATURES
    : Math.max(needs.features ?? 0, needs.regions ?? 0, needs.residues ?? 0, 1);
