// Cutting a list of hashes: nothing lost, nothing twice, never more than 500 in a part; and what the parts make of the whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BulkState, chunkHashes, newPart, readJob, stateOf } from '../../src/lookups/lookup.ts';

describe('cutting', () => {
  it('keeps every hash once, in the order of first appearance', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2500 }).map(String), { maxLength: 4000 }), (hashes) => {
        const chunks = chunkHashes(hashes);
        expect(chunks.flat()).toEqual([...new Set(hashes)]);
        expect(chunks.every(({ length }) => length >= 1 && length <= 500)).toBe(true);
        expect(chunks.slice(0, -1).every(({ length }) => length === 500)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the state of a look-up', () => {
  const lookup = (states: BulkState[], cancelRequested = false) =>
    stateOf({
      lookupId: 'x',
      account: 'a',
      startedAt: 0,
      requestedCount: 0,
      duplicateCount: 0,
      cancelRequested,
      parts: states.map((state) => ({ ...newPart(1), state })),
    });

  it.each<[BulkState[], boolean, BulkState]>([
    [['PENDING', 'COMPLETE'], false, 'PENDING'],
    [['UNKNOWN', 'COMPLETE'], false, 'UNKNOWN'],
    [['COMPLETE', 'COMPLETE'], false, 'COMPLETE'],
    [['COMPLETE', 'COMPLETE'], true, 'COMPLETE'],
    [['COMPLETE', 'CANCEL_REQUESTED'], true, 'CANCEL_REQUESTED'],
    [['COMPLETE', 'CANCELLED', 'FAILED'], true, 'CANCELLED'],
    [['COMPLETE', 'FAILED'], false, 'FAILED'],
    [['COMPLETE', 'EXPIRED'], false, 'EXPIRED'],
  ])('%j, cancel asked %s: %s', (states, asked, expected) => {
    expect(lookup(states, asked)).toBe(expected);
  });

  it.each([
    [{ status: 'pending', completed_count: 3 }, false, { state: 'PENDING', completed: 3 }],
    [{ status: 'pending' }, true, { state: 'CANCEL_REQUESTED', completed: 2 }],
    [
      { status: 'completed', download_url: 'u' },
      false,
      { state: 'COMPLETE', completed: 10, expiresAt: null },
    ],
    [
      { status: 'Complete', download_url: 'u', expires_at: '2026-01-01T00:00:00Z' },
      true,
      { state: 'COMPLETE', completed: 10, expiresAt: Date.UTC(2026, 0, 1) },
    ],
    [
      { status: 'cancelled', completed_count: 4 },
      true,
      { state: 'CANCELLED', completed: 4, offersArchive: false },
    ],
    [
      { status: 'canceled', completed_count: 4, download_url: 'u' },
      true,
      { state: 'CANCELLED', completed: 4, offersArchive: true },
    ],
    [{ status: 'polishing' }, false, { state: 'UNKNOWN', completed: 2 }],
    [{ status: '' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'queued' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'Running' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'processing' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'in_progress' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'completed' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'complete' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'pending', download_url: 'u' }, false, { state: 'PENDING', completed: 2 }],
    [{ status: 'pending', completed_count: 99 }, false, { state: 'PENDING', completed: 10 }],
    [{ status: 'failed' }, false, 'lost'],
    [{ status: 'expired', download_url: 'u' }, false, 'lost'],
  ])('reads the job %j, cancel asked %s', (job, asked, expected) => {
    const wire = {
      job_id: undefined,
      poll_url: undefined,
      total_count: undefined,
      completed_count: undefined,
      download_url: undefined,
      ...job,
    };
    expect(readJob({ ...newPart(10), completed: 2 }, wire, asked)).toEqual(expected);
  });
});
