// Cutting a list of hashes: nothing lost, nothing twice, never more than 500 in a part; what a job
// makes of its part, and the parts of the whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitHashes } from '../../src/lookups/bulk-lookup.ts';
import { type BulkLookupState, combineStates, readJob } from '../../src/lookups/bulk-part.ts';

it('cutting keeps every hash once, in the order of first appearance', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2500 }).map(String), { maxLength: 4000 }), (hashes) => {
      const chunks = splitHashes(hashes);
      expect(chunks.flat()).toEqual([...new Set(hashes)]);
      expect(chunks.every(({ length }) => length >= 1 && length <= 500)).toBe(true);
      expect(chunks.slice(0, -1).every(({ length }) => length === 500)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

describe('the state of a look-up', () => {
  it.each<[BulkLookupState[], BulkLookupState]>([
    [['PENDING', 'COMPLETE'], 'PENDING'],
    [['PENDING', 'FAILED', 'UNKNOWN'], 'PENDING'],
    [['UNKNOWN', 'COMPLETE'], 'UNKNOWN'],
    [['COMPLETE', 'COMPLETE'], 'COMPLETE'],
    [['COMPLETE', 'CANCEL_REQUESTED', 'CANCELLED'], 'CANCEL_REQUESTED'],
    [['COMPLETE', 'CANCELLED', 'FAILED'], 'CANCELLED'],
    [['COMPLETE', 'FAILED'], 'FAILED'],
    [['COMPLETE', 'EXPIRED'], 'EXPIRED'],
  ])('%j: %s', (states, expected) => {
    expect(combineStates(states)).toBe(expected);
  });

  it.each([
    [{ status: 'pending', completed_count: 3 }, false, { state: 'PENDING', completedCount: 3 }],
    [{ status: 'pending' }, true, { state: 'CANCEL_REQUESTED', completedCount: null }],
    [
      { status: 'completed', download_url: 'u' },
      false,
      { state: 'COMPLETE', completedCount: 10, downloadUrl: 'u' },
    ],
    [
      { status: 'Complete', download_url: 'u' },
      true,
      { state: 'COMPLETE', completedCount: 10, downloadUrl: 'u' },
    ],
    [{ download_url: 'u' }, false, { state: 'COMPLETE', completedCount: 10, downloadUrl: 'u' }],
    [
      { status: 'cancelled', completed_count: 4 },
      true,
      { state: 'CANCELLED', completedCount: 4, downloadUrl: null },
    ],
    [{ status: 'canceled', download_url: 'u' }, true, { state: 'CANCELLED', downloadUrl: 'u' }],
    [{ status: 'polishing' }, false, { state: 'UNKNOWN', completedCount: null }],
    [{ status: '' }, false, { state: 'PENDING' }],
    [{ status: 'queued' }, false, { state: 'PENDING' }],
    [{ status: 'Running' }, false, { state: 'PENDING' }],
    [{ status: 'processing' }, false, { state: 'PENDING' }],
    [{ status: 'in_progress' }, false, { state: 'PENDING' }],
    [{ status: 'completed' }, false, { state: 'PENDING' }],
    [{ status: 'pending', download_url: 'u' }, false, { state: 'PENDING', downloadUrl: null }],
    [{ status: 'pending', completed_count: 99 }, false, { state: 'PENDING', completedCount: 10 }],
    [{ status: 'failed' }, false, { state: 'FAILED', problem: expect.stringContaining('could not finish') }],
    [{ status: 'expired', download_url: 'u' }, false, { state: 'EXPIRED', downloadUrl: null }],
  ])('the job %j, cancel requested %s', (job, cancelRequested, expected) => {
    const wire = {
      status: undefined,
      job_id: undefined,
      poll_url: undefined,
      total_count: undefined,
      completed_count: undefined,
      download_url: undefined,
      expires_at: undefined,
      ...job,
    };
    expect(readJob(wire, 10, cancelRequested)).toMatchObject(expected);
  });
});
