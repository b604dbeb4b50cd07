// Checks that an answer is that of the requested protein: the hash is the MD5 of the sequence, and
// lengths agree.
import { hash as digest } from 'node:crypto';
import { redact } from '../../telemetry/redact.ts';
import { UpstreamError } from '../errors.ts';
import type { WireRecord } from '../wire.ts';

/** Whether a protein hash is that of a sequence. */
export const matchesSequence = (hash: string, sequence: string): boolean => digest('md5', sequence) === hash;

/** An answer that contradicts itself or the question. */
export const contradiction = (path: string, expected: string, seen: string): UpstreamError =>
  new UpstreamError(
    redact(`The upstream's answer to protein is wrong at ${path}: expected ${expected}, seen ${seen}.`),
    { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false },
  );

/**
 * Checks that a record is that of a protein.
 *
 * @throws UpstreamError UPSTREAM_DRIFT with the JSON path, the expected and the seen value
 */
export function checkRecord(
  hash: string,
  record: Pick<WireRecord, 'protein_hash' | 'sequence' | 'sequence_length'>,
): void {
  const { protein_hash: own, sequence } = record;
  if (own !== hash) throw contradiction('$.protein_hash', hash, own);
  if (sequence == null) return;
  if (!matchesSequence(hash, sequence))
    throw contradiction('$.sequence', `a sequence whose MD5 is ${hash}`, `one of ${sequence.length} letters`);
  const { length } = sequence;
  const { sequence_length: stated = length } = record;
  if (stated !== null && stated !== length)
    throw contradiction('$.sequence_length', `${length} as the sequence has`, String(stated));
}
