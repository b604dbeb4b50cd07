// Checks that an answer is that of the requested protein: the hash is the MD5 of the sequence, and
// lengths agree.
import { createHash } from 'node:crypto';
import { countResidues } from '../../structure/pdb.ts';
import { redact } from '../../telemetry/redact.ts';
import { UpstreamError } from '../errors.ts';
import type { ReadRecord } from './protein-record.ts';

/** Stop codons and white space, which are no residues and no part of the hash (wire contract). */
const NO_RESIDUE = /[\s*]/g;

/** Whether a protein hash is that of a sequence. */
export function isSequenceOf(hash: string, sequence: string): boolean {
  const residues = sequence.replace(NO_RESIDUE, '').toUpperCase();
  return createHash('md5').update(residues).digest('hex') === hash.toLowerCase();
}

/** An answer that contradicts itself or the question. */
const contradiction = (path: string, expected: string, seen: string): UpstreamError =>
  new UpstreamError(
    redact(`The upstream's answer to protein is wrong at ${path}: expected ${expected}, seen ${seen}.`),
    { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false },
  );

function checkLength(path: string, expected: number, seen: number): void {
  if (seen !== expected) throw contradiction(path, `${expected} as the sequence has`, String(seen));
}

/**
 * Checks a record.
 *
 * @param withStructure - whether the structure was requested: only then are its coordinates checked
 * @throws UpstreamError UPSTREAM_DRIFT with the JSON path, the expected and the seen value
 */
export function checkRecord(hash: string, { record }: ReadRecord, withStructure: boolean): void {
  const own = record.protein_hash.toLowerCase();
  if (own !== hash) throw contradiction('$.protein_hash', hash, own);
  const { sequence } = record;
  if (sequence == null) return;
  if (!isSequenceOf(hash, sequence))
    throw contradiction('$.sequence', `a sequence whose MD5 is ${hash}`, `one of ${sequence.length} letters`);
  const length = sequence.replace(NO_RESIDUE, '').length;
  if (record.sequence_length != null) checkLength('$.sequence_length', length, record.sequence_length);
  if (!withStructure) return;
  const { pdb, residues_plddt: plddt } = record;
  if (plddt != null) checkLength('$.residues_plddt.length', length, plddt.length);
  if (pdb != null && pdb !== '') checkLength('$.pdb (residues)', length, countResidues(pdb));
}
