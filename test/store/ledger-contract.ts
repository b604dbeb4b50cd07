// What every ledger must do, whatever it keeps its data in. A store runs this suite over a function that opens it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Ledger,
  type LedgerBatch,
  type LedgerItem,
  RETENTION_MS,
} from '../../src/store/ledger/ledger.ts';
import { openPrincipalKey, rotateSecret, WrongSecretError } from '../../src/store/ledger/principal-key.ts';
import { startCpuTimer } from '../cpu-time.ts';

/** A place that ledgers can be opened on again and again, as a restarted or a second process would. */
export interface LedgerPlace {
  open(now: () => number): Promise<Ledger>;
  remove(): Promise<void>;
}

export const batchOf = (batchId: string, more: Partial<LedgerBatch> = {}): LedgerBatch => ({
  batchId,
  label: `label of ${batchId}`,
  model: 'm',
  submittedAt: 1000,
  itemCount: 2,
  repeat: 3,
  inputHash: `hash of ${batchId}`,
  onlyTaskId: null,
  ...more,
});

const items: LedgerItem[] = [
  {
    name: 'dimer',
    chains: [{ ids: ['A', 'B'], kind: 'PROTEIN', length: 21, proteinHash: '0'.repeat(32) }],
  },
  { name: null, chains: [{ ids: [], kind: 'LIGAND', length: 0, proteinHash: null }] },
];

export function ledgerContract(name: string, openPlace: () => Promise<LedgerPlace>): void {
  describe(`ledger: ${name}`, () => {
    let place: LedgerPlace;
    let ledger: Ledger;
    let now = 1_000_000;
    const clock = () => now;

    beforeEach(async () => {
      now = 1_000_000;
      place = await openPlace();
      ledger = await place.open(clock);
    });
    afterEach(async () => {
      await ledger.close();
      await place.remove();
    });

    it('writes the sealed key only where what is expected stands', async () => {
      expect(await ledger.sealedKey()).toBeNull();
      const racing = await Promise.all(['a', 'b', 'c'].map((sealed) => ledger.sealKey(null, sealed)));
      expect(racing.filter((done) => done)).toHaveLength(1);
      const standing = await ledger.sealedKey();
      expect(await ledger.sealKey('another', 'd')).toBe(false);
      expect(await ledger.sealedKey()).toBe(standing);
      expect(await ledger.sealKey(standing, 'd')).toBe(true);
      now += 10 * RETENTION_MS;
      const other = await place.open(clock);
      expect(await other.sealedKey()).toBe('d');
      await other.close();
    });

    it('is empty until something is recorded of a principal', async () => {
      expect(await ledger.isEmpty()).toBe(true);
      await ledger.sealKey(null, 'sealed');
      expect(await ledger.isEmpty()).toBe(true);
      await ledger.claim('p', 'k', 'h');
      expect(await ledger.isEmpty()).toBe(false);
    });

    it('gives the same key to all gateways of one secret, to none of another, and keeps it when the secret changes', async () => {
      const [first, second] = ['the first of all secrets', 'the second of all secrets'];
      const other = await place.open(clock);
      const keys = await Promise.all([ledger, other, ledger].map((one) => openPrincipalKey(one, first)));
      expect(new Set(keys).size).toBe(1);
      // A leaked store alone names nobody.
      expect(await ledger.sealedKey()).not.toContain(keys[0]);
      expect(keys[0]).not.toBe(first);
      await expect(openPrincipalKey(other, second)).rejects.toThrow(WrongSecretError);
      await expect(rotateSecret(other, second, 'another')).rejects.toThrow(WrongSecretError);

      expect(await rotateSecret(ledger, first, second)).toBe(true);
      expect(await openPrincipalKey(other, second)).toBe(keys[0]);
      await expect(openPrincipalKey(ledger, first)).rejects.toThrow(WrongSecretError);
      expect(await rotateSecret(ledger, first, second)).toBe(false);
      await other.close();
    });

    it('names callers by the secret itself where rows were written before there was a sealed key', async () => {
      await ledger.claim('p', 'k', 'h');
      expect(await openPrincipalKey(ledger, 'a secret of before')).toBe('a secret of before');
    });

    it('gives back a batch and its items as they were', async () => {
      await ledger.record('p', null, batchOf('b1'), items);
      expect(await ledger.batch('p', 'b1')).toEqual(batchOf('b1'));
      expect([...(await ledger.items('p', 'b1', [1, 0, 7]))]).toEqual([
        [1, items[1]],
        [0, items[0]],
      ]);
    });

    it('keeps principals apart in everything', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.record('p', 'k', batchOf('b1', { onlyTaskId: 't1' }), items);
      await ledger.saveScores('p', new Map([['t1', { ptm: 0.5, iptm: null, meanPlddt: 0.9 }]]));
      expect(await ledger.batch('q', 'b1')).toBeNull();
      expect(await ledger.batchOfOnlyTask('q', 't1')).toBeNull();
      expect((await ledger.items('q', 'b1', [0])).size).toBe(0);
      expect(await ledger.entry('q', 'k')).toBeNull();
      expect(await ledger.claim('q', 'k', 'other')).toBeNull();
      expect(await ledger.earlier('q', 'hash of b1')).toBeNull();
      expect((await ledger.scores('q', ['t1'])).size).toBe(0);
      expect(await ledger.batches('q', { first: 10, after: null })).toEqual({ total: 0, batches: [] });
    });

    it('gives a key to exactly one of many that ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ledger.claim('p', 'k', 'h')));
      expect(answers.filter((answer) => answer === null)).toHaveLength(1);
      for (const answer of answers.filter((a) => a !== null)) {
        expect(answer).toEqual({ state: 'pending', requestHash: 'h', at: now });
      }
    });

    it('gives a key to exactly one of two processes', async () => {
      const other = await place.open(clock);
      const answers = await Promise.all([ledger.claim('p', 'k', 'h'), other.claim('p', 'k', 'h')]);
      expect(answers.filter((answer) => answer === null)).toHaveLength(1);
      await other.close();
    });

    it('spends a key with the batch, and frees only a pending one', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.release('p', 'k');
      expect(await ledger.entry('p', 'k')).toBeNull();
      await ledger.claim('p', 'k', 'h2');
      await ledger.record('p', 'k', batchOf('b1'), items);
      await ledger.release('p', 'k');
      expect(await ledger.claim('p', 'k', 'h3')).toEqual({
        state: 'submitted',
        batchId: 'b1',
        requestHash: 'h2',
        at: now,
      });
    });

    it('keeps a key spent of which the store had lost the claim', async () => {
      await ledger.record('p', 'k', batchOf('b1'), items);
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({
        state: 'submitted',
        batchId: 'b1',
        requestHash: batchOf('b1').inputHash,
      });
      await ledger.recordUnknown('p', 'l', { inputHash: 'i', upstreamRequestId: null });
      expect(await ledger.claim('p', 'l', 'h')).toMatchObject({ state: 'unknown', requestHash: 'i' });
    });

    it('remembers an unknown outcome under its key and by its input', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.recordUnknown('p', 'k', { inputHash: 'i', upstreamRequestId: 'req_1' });
      expect(await ledger.entry('p', 'k')).toEqual({
        state: 'unknown',
        upstreamRequestId: 'req_1',
        requestHash: 'h',
        at: now,
      });
      expect(await ledger.earlier('p', 'i')).toEqual({ batchId: null, at: now });
      await ledger.recordUnknown('p', null, { inputHash: 'j', upstreamRequestId: null });
      expect(await ledger.earlier('p', 'j')).toEqual({ batchId: null, at: now });
    });

    it('tells the newest earlier submission of an input', async () => {
      await ledger.record('p', null, batchOf('b1', { inputHash: 'i', submittedAt: 5 }), []);
      await ledger.record('p', null, batchOf('b2', { inputHash: 'i', submittedAt: 9 }), []);
      // Written down later than the one that was submitted after it.
      await ledger.record('p', null, batchOf('b0', { inputHash: 'i', submittedAt: 3 }), []);
      expect(await ledger.earlier('p', 'i')).toEqual({ batchId: 'b2', at: 9 });
    });

    it('finds the batch of a single task by the task', async () => {
      await ledger.record('p', null, batchOf('b1', { onlyTaskId: 'task_x' }), items);
      expect((await ledger.batchOfOnlyTask('p', 'task_x'))?.batchId).toBe('b1');
      expect(await ledger.batchOfOnlyTask('p', 'task_y')).toBeNull();
    });

    it('lists a batch that is recorded again once', async () => {
      for (const submittedAt of [1000, 2000])
        await ledger.record('p', null, batchOf('b1', { submittedAt }), []);
      const { total, batches } = await ledger.batches('p', { first: 9, after: null });
      expect([total, batches.map((batch) => batch.submittedAt)]).toEqual([1, [2000]]);
    });

    it('pages batches newest first, also those of one moment, without gap or repetition', async () => {
      const ids = Array.from({ length: 23 }, (_, i) => `b${String(i).padStart(2, '0')}`);
      for (const [i, id] of ids.entries()) {
        await ledger.record('p', null, batchOf(id, { submittedAt: 1000 + Math.floor(i / 3) }), []);
      }
      const seen: LedgerBatch[] = [];
      for (;;) {
        const last = seen.at(-1);
        const { total, batches } = await ledger.batches('p', { first: 4, after: last ?? null });
        expect(total).toBe(23);
        seen.push(...batches);
        if (batches.length === 0) break;
      }
      expect(new Set(seen.map(({ batchId }) => batchId))).toEqual(new Set(ids));
      expect(seen).toHaveLength(23);
      const times = seen.map(({ submittedAt }) => submittedAt);
      expect(times).toEqual([...times].sort((a, b) => b - a));
    });

    it('keeps everything over a restart', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.record('p', 'k', batchOf('b1'), items);
      await ledger.claim('p', 'pending', 'h');
      await ledger.saveScores('p', new Map([['t', { ptm: 0.25, iptm: 0.5, meanPlddt: null }]]));
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'b1')).toEqual(batchOf('b1'));
      expect((await ledger.entry('p', 'k'))?.state).toBe('submitted');
      expect((await ledger.entry('p', 'pending'))?.state).toBe('pending');
      expect(await ledger.scores('p', ['t', 'u'])).toEqual(
        new Map([['t', { ptm: 0.25, iptm: 0.5, meanPlddt: null }]]),
      );
    });

    it('forgets batches and keys after 31 days, never scores', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.record('p', 'k', batchOf('old', { submittedAt: now }), items);
      await ledger.recordUnknown('p', null, { inputHash: 'lost', upstreamRequestId: null });
      await ledger.saveScores('p', new Map([['t', { ptm: 0.5, iptm: null, meanPlddt: 0.5 }]]));
      now += RETENTION_MS - 1;
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'old')).not.toBeNull();
      now += 2;
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'old')).toBeNull();
      expect((await ledger.items('p', 'old', [0])).size).toBe(0);
      expect(await ledger.entry('p', 'k')).toBeNull();
      expect(await ledger.earlier('p', 'lost')).toBeNull();
      expect((await ledger.scores('p', ['t'])).size).toBe(1);
    });

    it('forgets them while it stays open, too, and a key is free again', async () => {
      await ledger.record('p', null, batchOf('old', { submittedAt: now }), items);
      await ledger.claim('p', 'k', 'h');
      now += RETENTION_MS + 1;
      await ledger.record('p', null, batchOf('new', { submittedAt: now }), items);
      expect(await ledger.batch('p', 'old')).toBeNull();
      expect((await ledger.batches('p', { first: 10, after: null })).total).toBe(1);
      await ledger.claim('p', 'later', 'h');
      now += RETENTION_MS + 1;
      expect(await ledger.claim('p', 'later', 'h')).toBeNull();
    });

    it('writes a batch of 2,000 items and 2,000 scores in well under a second', async () => {
      const many = Array.from({ length: 2000 }, (_, i) => ({
        name: `item ${i}`,
        chains: items[0]?.chains ?? [],
      }));
      const spent = startCpuTimer();
      await ledger.record('p', null, batchOf('big', { itemCount: 2000 }), many);
      const scores = new Map(many.map(({ name }) => [name, { ptm: 0.5, iptm: 0.5, meanPlddt: 0.5 }]));
      await ledger.saveScores('p', scores);
      expect(spent()).toBeLessThan(1500);
      expect((await ledger.items('p', 'big', [1999])).get(1999)?.name).toBe('item 1999');
      expect((await ledger.scores('p', [...scores.keys()])).size).toBe(2000);
    });
  });
}
