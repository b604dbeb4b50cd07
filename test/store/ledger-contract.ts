// The contract of every ledger. A store runs this suite over a function that opens it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  KEY_LEASE_MS,
  type KeyEntry,
  type Ledger,
  type LedgerBatch,
  type LedgerItem,
  RETENTION_MS,
} from '../../src/store/ledger/ledger.ts';
import { WrongSecretError } from '../../src/store/ledger/mark.ts';
import {
  createPrincipalMover,
  type LedgerSecrets,
  principalName,
} from '../../src/store/ledger/principals.ts';
import { LostLedgerError } from '../../src/store/unusable-store.ts';
import { expectLinear, GROWTH } from '../cpu-time.ts';

export const SECRETS = { current: 'a secret of this test' };
/**
 * A place that ledgers can be opened on again and again, as a restarted or a second process would.
 */
export interface LedgerPlace {
  open(now: () => number, secrets?: LedgerSecrets): Promise<Ledger>;
  /** Takes everything away under ledgers that are open. */
  lose(): Promise<void>;
  /** Keeps a copy. @returns puts it in the place of what is there then */
  save(): Promise<() => Promise<void>>;
  remove(): Promise<void>;
}

export const createBatch = (batchId: string, more: Partial<LedgerBatch> = {}): LedgerBatch => ({
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
    chains: [
      {
        ids: ['A', 'B'],
        kind: 'PROTEIN',
        length: 21,
        proteinHash: '0'.repeat(32),
        bonds: [
          {
            from: { chainId: 'A', residueIndex: 5, atomIndex: 5, atomName: 'SG' },
            to: { chainId: 'B', residueIndex: 20, atomIndex: 3, atomName: null },
          },
        ],
      },
    ],
  },
  { name: null, chains: [{ ids: [], kind: 'LIGAND', length: 0, proteinHash: null }] },
];

const DAY_MS = 24 * 3_600_000;

/** The entry under a key; null if the key is free, which it then stays. */
export async function peek(ledger: Ledger, principal: string, key: string): Promise<KeyEntry | null> {
  const standing = await ledger.claim(principal, key, 'a look');
  if (standing === null) await ledger.release(principal, key);
  return standing;
}

export function ledgerContract(name: string, openPlace: () => Promise<LedgerPlace>): void {
  describe(`ledger: ${name}`, () => {
    let place: LedgerPlace;
    let ledger: Ledger;
    let now = 1_000_000;
    const clock = () => now;
    /** Lets time pass as it does, with a gateway that runs: a day at a time. */
    const pass = async (milliseconds: number, gateway = ledger): Promise<void> => {
      for (let left = milliseconds; left > 0; left -= DAY_MS) {
        now += Math.min(left, DAY_MS);
        await gateway.claim('time', `${now}`, 'h');
      }
    };
    /** Puts a copy back that lacks only the last key that was claimed. */
    const loseLastClaim = async (): Promise<void> => {
      await ledger.claim('p', 'before', 'h');
      const restore = await place.save();
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      await restore();
    };

    beforeEach(async () => {
      now = 1_000_000;
      place = await openPlace();
      ledger = await place.open(clock);
    });
    afterEach(async () => {
      await ledger.close();
      await place.remove();
    });

    it('is founded once, however many open it at the same moment', async () => {
      const others = await Promise.all(Array.from({ length: 5 }, () => place.open(clock)));
      const all = [ledger, ...others];
      await Promise.all(all.map((one) => one.check()));
      const claims = await Promise.all(all.map((one, i) => one.claim('p', `k${i}`, 'h')));
      expect(claims).toEqual(all.map(() => null));
      expect(await ledger.accept()).toBe(false);
      await Promise.all(others.map((one) => one.close()));
    });

    it('gives no key away once it has lost what it knew, also not to those that open it later, until that is accepted', async () => {
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      await place.lose();
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      await expect(ledger.check()).rejects.toThrow(/accept-ledger/);
      expect(ledger.isLost()).toBe(true);
      const later = await place.open(clock);
      await expect(later.check()).rejects.toThrow(LostLedgerError);
      await expect(later.claim('p', 'other', 'h')).rejects.toThrow(LostLedgerError);
      expect(await later.accept()).toBe(true);
      expect(await later.claim('p', 'k', 'h')).toBeNull();
      await later.close();
    });

    it('knows a ledger that is older than it was, and one that another gateway founded meanwhile', async () => {
      await ledger.claim('p', 'before', 'h');
      const restore = await place.save();
      now += 3_600_000;
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      await restore();
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      await place.lose();
      const founder = await place.open(clock);
      // A store that has a witness tells the gateway that founds it, too.
      await founder.check().catch((error: unknown) => expect(error).toBeInstanceOf(LostLedgerError));
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      // The gateway that founded it knows nothing of before: it is told by the one that does.
      await expect(founder.claim('p', 'k', 'h')).rejects.toThrow(LostLedgerError);
      await founder.close();
    });

    it('knows a ledger that lacks its last write only, also where the clock stands still', async () => {
      await loseLastClaim();
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      await expect(ledger.check()).rejects.toThrow(LostLedgerError);
    });

    /** A store that has a witness refuses at once, others do not know yet. */
    const mayRefuse = (error: unknown): void => expect(error).toBeInstanceOf(LostLedgerError);

    it('stays lost for all gateways once the one whose key is missing checks it, although another one has written since', async () => {
      const other = await place.open(clock);
      await other.claim('p', 'of another', 'h');
      await loseLastClaim();
      now += 1000;
      await other.claim('p', 'after', 'h').catch(mayRefuse);
      await expect(ledger.check()).rejects.toThrow(LostLedgerError);
      await expect(other.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      await other.close();
    });

    it('knows of a loss also where a submission ends before it is noticed', async () => {
      await loseLastClaim();
      now += 1000;
      await ledger.record('p', 'before', createBatch('b'), items).catch(mayRefuse);
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
    });

    it('stays lost for all gateways once one with a former secret checks it', async () => {
      await loseLastClaim();
      const secrets = { current: 'the next secret of this test', previous: [SECRETS.current] };
      const next = await place.open(clock, secrets);
      await next.check().catch(mayRefuse);
      await expect(ledger.check()).rejects.toThrow(/another secret|lost ledger/i);
      await expect(next.claim('p', 'k', 'h')).rejects.toThrow(LostLedgerError);
      await next.close();
    });

    it('is older also for a gateway that has only read of what is missing', async () => {
      const restore = await place.save();
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      const reader = await place.open(clock);
      await reader.check();
      await restore();
      await expect(reader.claim('p', 'free', 'h')).rejects.toThrow(LostLedgerError);
      await reader.close();
    });

    it('is not lost because a gateway with an unknown secret says so', async () => {
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      for (const current of ['a second secret', 'a third secret']) {
        const next = await place.open(clock, { current });
        await expect(next.accept()).rejects.toThrow(WrongSecretError);
        expect(await next.accept(true)).toBe(true);
        await expect(ledger.check()).rejects.toThrow(WrongSecretError);
        await next.check();
        expect(await next.claim('p', `key for ${current}`, 'h')).toBeNull();
        await next.close();
      }
    });

    it('stays lost where it is lost once more, and only a gateway that found it so is left', async () => {
      expect(await ledger.claim('p', 'k', 'h')).toBeNull();
      await place.lose();
      await expect(ledger.check()).rejects.toThrow(LostLedgerError);
      const late = await place.open(clock);
      await expect(late.check()).rejects.toThrow(LostLedgerError);
      await ledger.close();
      await place.lose();
      await expect(late.claim('p', 'k', 'h')).rejects.toThrow(LostLedgerError);
      ledger = late;
    });

    it('loses a day at most to a clock that was weeks ahead for one write, and gives no key away until that is accepted', async () => {
      await ledger.claim('p', 'old', 'h');
      await pass(5 * DAY_MS);
      await ledger.claim('p', 'k', 'h');
      const right = now;
      now += RETENTION_MS + 20 * DAY_MS;
      await ledger.record('p', null, createBatch('ahead', { submittedAt: now }), items);
      now = right;
      await expect(ledger.claim('p', 'free', 'h')).rejects.toThrow(/ahead of its clock/);
      await expect(ledger.check()).rejects.toThrow(/ahead of its clock/);
      const standing = await ledger.claim('p', 'k', 'h').catch((error: unknown) => error);
      // A server deletes by its own clock, which this test cannot set.
      expect(standing).toMatchObject({ state: 'pending' });
      expect(await ledger.accept()).toBe(true);
      expect(await ledger.claim('p', 'free', 'h')).toBeNull();
    });

    it('takes keys that are claimed while it is checked for no loss', async () => {
      await ledger.check();
      for (let i = 0; i < 20; i += 1) {
        now += 3_600_000;
        await Promise.all([ledger.check(), ledger.claim('p', `k${i}`, 'h'), ledger.check()]);
      }
      expect(ledger.isLost()).toBe(false);
    });

    it('takes a clock that is a day ahead or behind for what it is', async () => {
      for (const [i, by] of [-DAY_MS, DAY_MS, DAY_MS, -DAY_MS].entries()) {
        now += by;
        await ledger.check();
        expect(await ledger.claim('p', `key ${i}`, 'h')).toBeNull();
      }
    });

    it('is opened by its secret only, and by the next one that knows it as the previous one', async () => {
      const next = { current: 'the next secret of this test' };
      const both = { ...next, previous: [SECRETS.current] };
      await ledger.check();
      await ledger.claim('p', 'k', 'h');
      const wrong = await place.open(clock, next);
      await expect(wrong.check()).rejects.toThrow(WrongSecretError);
      await expect(wrong.claim('p', 'k2', 'h')).rejects.toThrow(WrongSecretError);
      const right = await place.open(clock, both);
      await right.check();
      // A gateway with only the former secret would find a key free that moved to a new name.
      await expect(ledger.claim('p', 'k3', 'h')).rejects.toThrow(WrongSecretError);
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({ state: 'pending' });
      await expect(wrong.check()).rejects.toThrow(/another secret too, which was replaced on 1970-01-01/);
      const lost = await place.open(clock, { current: 'a secret of after a loss' });
      await expect(lost.accept()).rejects.toThrow(WrongSecretError);
      expect(await lost.accept(true)).toBe(true);
      await lost.check();
      await Promise.all([wrong, right, lost].map((one) => one.close()));
    });

    it('asks for every secret of 31 days, whatever was changed meanwhile, and for none that is older', async () => {
      const secretAt = (n: number) => `secret number ${n} of this test`;
      const opened: Ledger[] = [];
      const check = async (current: number, ...previous: number[]) => {
        const secrets = { current: secretAt(current), previous: previous.map(secretAt) };
        const one = await place.open(clock, secrets);
        opened.push(one);
        await one.check();
        return one;
      };
      const nameAt = (n: number) => principalName(secretAt(n), 'a token');
      const first = await check(1);
      await first.claim(nameAt(1), 'paid once', 'h');
      await pass(DAY_MS, first);
      const second = await check(2, 1);
      await second.claim('time', 'a', 'h');
      // The caller was away all the time.
      await expect(check(3, 2)).rejects.toThrow(WrongSecretError);
      await expect(check(3)).rejects.toThrow(WrongSecretError);
      const third = await check(3, 2, 1, 3);
      const names = [nameAt(2), nameAt(1)];
      expect(await third.claim(nameAt(3), 'paid once', 'h', names)).toMatchObject({ state: 'pending' });
      // Two that know each other's secret do not take the ledger from each other.
      for (const [current, ...previous] of [[2, 3, 1], [1, 2, 3], [1]] as const)
        await expect(check(current, ...previous)).rejects.toThrow(WrongSecretError);
      await expect(second.claim('p', 'free', 'h')).rejects.toThrow(WrongSecretError);
      await pass(RETENTION_MS - 1, third);
      await expect(check(3)).rejects.toThrow(WrongSecretError);
      now += 2;
      await check(3);
      await Promise.all(opened.map((one) => one.close()));
    });

    it('finds a key under all names of its caller, and how it has ended before that it was claimed', async () => {
      await ledger.claim('old', 'k', 'h');
      expect(await ledger.claim('new', 'k', 'h')).toBeNull();
      expect(await ledger.claim('new', 'k', 'h', ['other', 'old'])).toMatchObject({ state: 'pending' });
      await ledger.release('new', 'k');
      expect(await ledger.claim('new', 'k', 'h', ['other', 'old'])).toMatchObject({ state: 'pending' });
      await ledger.rename('old', 'new');
      // The gateway that sent it has the secret of before, and ends it under the name of before.
      await ledger.record('old', 'k', createBatch('b1'), items);
      expect(await ledger.claim('new', 'k', 'h', ['old'])).toMatchObject({
        state: 'submitted',
        batchId: 'b1',
      });
      await ledger.rename('old', 'new');
      expect(await ledger.claim('new', 'k', 'h')).toMatchObject({ state: 'submitted', batchId: 'b1' });
    });

    it('moves the data of a caller from the name under the previous secret, and from none without one', async () => {
      const next = 'the next secret of this test';
      const [before, after] = [SECRETS.current, next].map((secret) => principalName(secret, 'a token'));
      await ledger.record(before ?? '', null, createBatch('b1'), items);
      const caller = { identity: 'a token', principal: after ?? '' };
      const total = async () => (await ledger.batches(caller.principal, { first: 1, after: null })).total;
      for (const secrets of [{ current: next }, { current: next, previous: [next] }])
        await createPrincipalMover(ledger, secrets)(caller);
      expect(await total()).toBe(0);
      const move = createPrincipalMover(ledger, { current: next, previous: [SECRETS.current] });
      await Promise.all([move(caller), move(caller), move({ identity: null, principal: null })]);
      expect(await total()).toBe(1);
    });

    it('moves everything of a principal, and keeps what stands there already', async () => {
      const scores = new Map([['t1', { ptm: 0.5, iptm: null, meanPlddt: 0.9, chainPairs: [] }]]);
      await ledger.claim('old', 'k', 'h');
      await ledger.record('old', 'k', createBatch('b1', { onlyTaskId: 't1' }), items);
      await ledger.record('old', null, createBatch('b2'), items);
      await ledger.recordUnknown('old', null, { inputHash: 'lost', upstreamRequestId: null });
      await ledger.saveScores('old', scores);
      await ledger.record('other', null, createBatch('b9'), items);
      await ledger.record('new', null, createBatch('b3'), items);
      const [from, to] = ['old', 'new'];
      await Promise.all([ledger.rename(from, to), ledger.rename(from, to)]);
      expect(await ledger.claim('new', 'k', 'h')).toMatchObject({ state: 'submitted', batchId: 'b1' });
      expect((await ledger.batches('new', { first: 9, after: null })).total).toBe(3);
      expect(await ledger.batch('new', 'b1')).toEqual(createBatch('b1', { onlyTaskId: 't1' }));
      expect((await ledger.items('new', 'b1', [0, 1])).size).toBe(2);
      expect((await ledger.batchOfOnlyTask('new', 't1'))?.batchId).toBe('b1');
      expect(await ledger.earlier('new', 'lost')).toMatchObject({ batchId: null });
      expect(await ledger.scores('new', ['t1'])).toEqual(scores);
      expect((await ledger.batches('old', { first: 9, after: null })).total).toBe(0);
      expect(await peek(ledger, 'old', 'k')).toBeNull();
      expect((await ledger.batches('other', { first: 9, after: null })).total).toBe(1);
    });

    it('gives back a batch and its items as they were', async () => {
      await ledger.record('p', null, createBatch('b1'), items);
      expect(await ledger.batch('p', 'b1')).toEqual(createBatch('b1'));
      expect([...(await ledger.items('p', 'b1', [1, 0, 7]))]).toEqual([
        [1, items[1]],
        [0, items[0]],
      ]);
    });

    it('keeps principals apart in everything', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.record('p', 'k', createBatch('b1', { onlyTaskId: 't1' }), items);
      await ledger.saveScores(
        'p',
        new Map([['t1', { ptm: 0.5, iptm: null, meanPlddt: 0.9, chainPairs: [] }]]),
      );
      expect(await ledger.batch('q', 'b1')).toBeNull();
      expect(await ledger.batchOfOnlyTask('q', 't1')).toBeNull();
      expect((await ledger.items('q', 'b1', [0])).size).toBe(0);
      expect(await peek(ledger, 'q', 'k')).toBeNull();
      expect(await ledger.claim('q', 'k', 'other')).toBeNull();
      expect(await ledger.earlier('q', 'hash of b1')).toBeNull();
      expect((await ledger.scores('q', ['t1'])).size).toBe(0);
      expect(await ledger.batches('q', { first: 10, after: null })).toEqual({ total: 0, batches: [] });
    });

    it('gives a key to exactly one of many that ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ledger.claim('p', 'k', 'h')));
      expect(answers.filter((answer) => answer === null)).toHaveLength(1);
      for (const answer of answers.filter((a) => a !== null)) {
        expect(answer).toEqual({ state: 'pending', requestHash: 'h', at: now, isAbandoned: false });
      }
    });

    it('tells a key whose process gives no sign of life any more', async () => {
      await ledger.claim('p', 'k', 'h');
      now += KEY_LEASE_MS - 1000;
      await ledger.renew('p', 'k');
      now += KEY_LEASE_MS;
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({ isAbandoned: false });
      now += 1000;
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({ state: 'pending', isAbandoned: true });
      expect(await peek(ledger, 'p', 'k')).toMatchObject({ isAbandoned: true });
      await ledger.record('p', 'k', createBatch('b1'), items);
      await ledger.renew('p', 'k');
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({ state: 'submitted', batchId: 'b1' });
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
      expect(await peek(ledger, 'p', 'k')).toBeNull();
      await ledger.claim('p', 'k', 'h2');
      await ledger.record('p', 'k', createBatch('b1'), items);
      await ledger.release('p', 'k');
      expect(await ledger.claim('p', 'k', 'h3')).toEqual({
        state: 'submitted',
        batchId: 'b1',
        requestHash: 'h2',
        at: now,
      });
    });

    it('keeps a key spent of which the store had lost the claim', async () => {
      await ledger.record('p', 'k', createBatch('b1'), items);
      expect(await ledger.claim('p', 'k', 'h')).toMatchObject({
        state: 'submitted',
        batchId: 'b1',
        requestHash: createBatch('b1').inputHash,
      });
      await ledger.recordUnknown('p', 'l', { inputHash: 'i', upstreamRequestId: null });
      expect(await ledger.claim('p', 'l', 'h')).toMatchObject({ state: 'unknown', requestHash: 'i' });
    });

    it('remembers an unknown outcome under its key and by its input', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.recordUnknown('p', 'k', { inputHash: 'i', upstreamRequestId: 'req_1' });
      expect(await peek(ledger, 'p', 'k')).toEqual({
        state: 'unknown',
        upstreamRequestId: 'req_1',
        requestHash: 'h',
        at: now,
      });
      expect(await ledger.earlier('p', 'i')).toEqual({ batchId: null, at: now });
      await ledger.recordUnknown('p', null, { inputHash: 'j', upstreamRequestId: null });
      expect(await ledger.earlier('p', 'j')).toEqual({ batchId: null, at: now });
    });

    it('tells what was asked under a key, and nothing of a free one', async () => {
      await ledger.claim('p', 'k', 'h');
      expect(await ledger.requestHash('p', 'k')).toBe('h');
      expect(await ledger.requestHash('q', 'k')).toBeNull();
      await ledger.release('p', 'k');
      expect(await ledger.requestHash('p', 'k')).toBeNull();
      await ledger.claim('p', 'k', 'i');
      await pass(32 * DAY_MS);
      expect(await ledger.requestHash('p', 'k')).toBeNull();
    });

    it('tells the newest earlier submission of an input', async () => {
      await ledger.record('p', null, createBatch('b1', { inputHash: 'i', submittedAt: 5 }), []);
      await ledger.record('p', null, createBatch('b2', { inputHash: 'i', submittedAt: 9 }), []);
      // Written down later than the one that was submitted after it.
      await ledger.record('p', null, createBatch('b0', { inputHash: 'i', submittedAt: 3 }), []);
      expect(await ledger.earlier('p', 'i')).toEqual({ batchId: 'b2', at: 9 });
    });

    it('finds the batch of a single task by the task', async () => {
      await ledger.record('p', null, createBatch('b1', { onlyTaskId: 'task_x' }), items);
      expect((await ledger.batchOfOnlyTask('p', 'task_x'))?.batchId).toBe('b1');
      expect(await ledger.batchOfOnlyTask('p', 'task_y')).toBeNull();
    });

    it('lists a batch that is recorded again once', async () => {
      for (const submittedAt of [1000, 2000])
        await ledger.record('p', null, createBatch('b1', { submittedAt }), []);
      const { total, batches } = await ledger.batches('p', { first: 9, after: null });
      expect([total, batches.map((batch) => batch.submittedAt)]).toEqual([1, [2000]]);
    });

    it('pages batches newest first, also those of one moment, without gap or repetition', async () => {
      const ids = Array.from({ length: 23 }, (_, i) => `b${String(i).padStart(2, '0')}`);
      for (const [i, id] of ids.entries()) {
        await ledger.record('p', null, createBatch(id, { submittedAt: 1000 + Math.floor(i / 3) }), []);
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
      await ledger.record('p', 'k', createBatch('b1'), items);
      await ledger.claim('p', 'pending', 'h');
      const distance = { meanPae: 7.25, minPae: 1.5 };
      const pair = {
        iptm: 0.5,
        ipsae: 0.125,
        ipsaeMax: 0.25,
        pDockQ: 0.3,
        pDockQ2: null,
        lis: 0,
        ...distance,
      };
      const chainPairs = [{ a: 'A', b: 'B', ...pair }];
      const scores = new Map([['t', { ptm: 0.25, iptm: 0.5, meanPlddt: null, chainPairs }]]);
      await ledger.saveScores('p', scores);
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'b1')).toEqual(createBatch('b1'));
      expect((await peek(ledger, 'p', 'k'))?.state).toBe('submitted');
      expect((await peek(ledger, 'p', 'pending'))?.state).toBe('pending');
      expect(await ledger.scores('p', ['t', 'u'])).toEqual(scores);
    });

    it('forgets batches and keys after 31 days, never scores', async () => {
      await ledger.claim('p', 'k', 'h');
      await ledger.record('p', 'k', createBatch('old', { submittedAt: now }), items);
      await ledger.recordUnknown('p', null, { inputHash: 'lost', upstreamRequestId: null });
      await ledger.saveScores(
        'p',
        new Map([['t', { ptm: 0.5, iptm: null, meanPlddt: 0.5, chainPairs: [] }]]),
      );
      await pass(RETENTION_MS - 1);
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'old')).not.toBeNull();
      now += 2;
      await ledger.close();
      ledger = await place.open(clock);
      expect(await ledger.batch('p', 'old')).toBeNull();
      expect((await ledger.items('p', 'old', [0])).size).toBe(0);
      expect(await ledger.earlier('p', 'lost')).toBeNull();
      expect((await ledger.scores('p', ['t'])).size).toBe(1);
      // A store that deletes by a clock of its own stores keys for a week longer.
      await pass(8 * DAY_MS);
      expect(await peek(ledger, 'p', 'k')).toBeNull();
    });

    it('forgets them while it stays open, too, and a key is free again', async () => {
      await ledger.record('p', null, createBatch('old', { submittedAt: now }), items);
      await ledger.claim('p', 'k', 'h');
      await pass(RETENTION_MS + DAY_MS);
      await ledger.record('p', null, createBatch('new', { submittedAt: now }), items);
      expect(await ledger.batch('p', 'old')).toBeNull();
      expect((await ledger.batches('p', { first: 10, after: null })).total).toBe(1);
      await ledger.claim('p', 'later', 'h');
      await pass(RETENTION_MS + 8 * DAY_MS);
      expect(await ledger.claim('p', 'later', 'h')).toBeNull();
    });

    it('writes a batch of 2,000 items and 2,000 scores in linear time', async () => {
      let batches = 0;
      const write = async (itemCount: number): Promise<void> => {
        const id = `batch ${++batches}`;
        const names = Array.from({ length: itemCount }, (_, i) => `item ${i} of ${id}`);
        const chains = items[0]?.chains ?? [];
        await ledger.record(
          'p',
          null,
          createBatch(id, { itemCount }),
          names.map((name) => ({ name, chains })),
        );
        const scores = { ptm: 0.5, iptm: 0.5, meanPlddt: 0.5, chainPairs: [] };
        await ledger.saveScores('p', new Map(names.map((name) => [name, scores])));
        const last = itemCount - 1;
        expect((await ledger.items('p', id, [last])).get(last)?.name).toBe(names[last]);
        expect((await ledger.scores('p', names)).size).toBe(itemCount);
      };
      await expectLinear(
        () => write(2000 / GROWTH),
        () => write(2000),
      );
    });
  });
}
