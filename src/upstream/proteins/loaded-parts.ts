// Records of which some needed parts were not loaded: joined with others, or completed with the
// reason.
import { UNKNOWN } from '../part.ts';
import { PARTS, type RequiredParts } from './parts.ts';
import { mergeRecords, type ProteinRecord } from './record.ts';
import { findMissing, partNames } from './required-parts.ts';

/**
 * Joins two records where one was loaded for needs that the other does not meet. A need that both
 * together do not meet has the error of its part: what lacks the part says nothing of it.
 */
export function joinLoaded(other: ProteinRecord, loaded: ProteinRecord, needs: RequiredParts): ProteinRecord {
  const joined = mergeRecords(other, loaded);
  const errors = partNames(findMissing(joined, needs)).flatMap((name) => {
    const { member } = PARTS[name];
    const state = loaded[member];
    return state instanceof Error ? [[member, state]] : [];
  });
  return errors.length === 0 ? joined : { ...joined, ...Object.fromEntries(errors) };
}

/** The record with one state for all parts that these needs, which it does not meet, are about. */
export function withParts(record: ProteinRecord, needs: RequiredParts, state: Error | null): ProteinRecord {
  const members = partNames(needs).flatMap((name) => {
    const { member, beside = [] } = PARTS[name];
    return [member, ...beside.filter((one) => record[one] === UNKNOWN)];
  });
  return { ...record, ...Object.fromEntries(members.map((member) => [member, state])) };
}
