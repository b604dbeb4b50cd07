// Faults that the gateway had once, or could have. The simulator finds each, and shrank what it
// found to the events that stand here.
import { createEvent, createPlan, type Event, type Plan, type StoreKind } from './plan.ts';

/** A fault in the gateway. */
export interface Fault {
  /** A file of the gateway. */
  readonly file: string;
  /** Texts that stand there once, and what stands there instead. */
  readonly replacements: readonly (readonly [text: string, fault: string])[];
}

interface Mutant extends Fault {
  readonly name: string;
  /** SQLite when absent. */
  readonly store?: StoreKind;
  /** 2 when absent. */
  readonly replicas?: number;
  /** None when absent. */
  readonly followers?: number;
  /** Decides how far followers are behind; 0 when absent. */
  readonly planSeed?: number;
  /** The first seed in which a search found it. */
  readonly seed: number;
  /** A history in which the fault breaks a promise. */
  readonly events: readonly Event[];
}

const submit = (gapMs: number, more: Partial<Event> = {}): Event => createEvent('submit', { gapMs, ...more });

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'tolerance of two seconds',
    seed: 1259,
    file: 'src/store/ledger/mark.ts',
    replacements: [['return newest < known.newest ?', 'return newest < known.newest - 2_000 ?']],
    events: [createEvent('back up'), submit(0), createEvent('restore', { gapMs: 1_000 }), submit(0)],
  },
  {
    name: 'one former secret',
    seed: 121,
    file: 'src/store/ledger/principals.ts',
    replacements: [['[] : formerSecrets(secrets).map(', '[] : formerSecrets(secrets).slice(-1).map(']],
    events: [
      submit(0),
      createEvent('rotate secret', { gapMs: 300 }),
      createEvent('rotate secret'),
      submit(0),
    ],
  },
  {
    name: 'claim after Submit',
    seed: 1,
    file: 'src/store/ledger/sqlite-ledger.ts',
    replacements: [
      [
        "put(names[0], 'key', key, at, JSON.stringify({ requestHash, state: 'pending', token })),",
        'void [names, at, requestHash, token],',
      ],
    ],
    events: [submit(0), submit(0)],
  },
  {
    name: 'Submit sent again',
    seed: 1,
    file: 'src/upstream/batch.ts',
    replacements: [["new Set(['list', 'status'])", "new Set(['list', 'status', 'submit'])"]],
    events: [submit(0, { fate: 'answer lost' })],
  },
  {
    name: 'lease without end',
    seed: 128,
    file: 'src/store/lease.ts',
    replacements: [['expected: heldVersion(), lifetimeMs }', 'expected: heldVersion(), lifetimeMs: 1e12 }']],
    events: [submit(0, { receiver: 'ok' }), createEvent('kill', { gapMs: 6_000 }), createEvent('start')],
  },
  {
    name: 'mark not read after a reconnect',
    store: 'redis',
    seed: 140,
    file: 'src/store/ledger/redis-ledger.ts',
    replacements: [['(): void => void ledger.check().catch(onError)', '(): void => undefined']],
    events: [
      submit(50_000, { replica: 1 }),
      createEvent('restart store', { gapMs: 300, lostMs: 1_000 }),
      submit(21_000),
    ],
  },
  {
    name: 'clock of Redis believed',
    store: 'redis',
    seed: 825,
    file: 'src/store/ledger/redis-clock.ts',
    replacements: [
      ['leastAheadMs + monotonic() + MAX_JUMP_MS', 'Number.MAX_SAFE_INTEGER'],
      ['if (hasJumped || isAheadOfAll) return true;', 'void [hasJumped, isAheadOfAll];'],
    ],
    events: [submit(0), createEvent('set clock', { gapMs: 300, replica: 2, hours: 24 * 40 }), submit(0)],
  },
  {
    name: 'replicas not waited for',
    store: 'redis',
    seed: 375,
    followers: 1,
    planSeed: 17,
    file: 'src/store/ledger/replication.ts',
    replacements: [['await waitTogether();', '']],
    events: [
      submit(300),
      createEvent('kill', { gapMs: 80 }),
      createEvent('fail over', { end: 'closed', rejoinMs: 100 }),
      submit(6_000, { replica: 1 }),
    ],
  },
  {
    name: 'claim moved under way',
    seed: 9717,
    file: 'src/store/ledger/sqlite-ledger.ts',
    replacements: [[` AND NOT (kind = 'key' AND text ->> 'state' = 'pending')`, '']],
    events: [submit(0, { fate: 422 }), createEvent('rotate secret'), submit(0, { key: 1 })],
  },
  {
    name: 'loss told once',
    seed: 4019,
    file: 'src/store/ledger/mark.ts',
    replacements: [['await store.keepWitness?.();\n      // The next', '// The next']],
    events: [submit(0), createEvent('remove witness'), createEvent('remove file'), createEvent('stop')],
  },
  {
    name: 'loss kept to itself',
    store: 'redis',
    seed: 4388,
    planSeed: 4,
    file: 'src/store/ledger/mark.ts',
    replacements: [['if (known === undefined) lostIds =', 'void']],
    events: [
      submit(0),
      createEvent('restart store', { gapMs: 2_500, lostMs: 1e12 }),
      createEvent('rotate secret', { gapMs: 6_000 }),
      createEvent('restart store', { lostMs: 1e12 }),
      submit(21_000),
    ],
  },
  {
    name: 'log of another file',
    seed: 99_050,
    replicas: 1,
    file: 'src/store/ledger/sqlite-tables.ts',
    replacements: [['if (inFile < before) throw', 'if (inFile < before - 1e15) throw']],
    events: [
      createEvent('back up'),
      createEvent('restore'),
      submit(0),
      createEvent('stop'),
      createEvent('start', { gapMs: 50_000 }),
      createEvent('restore', { isClean: false }),
    ],
  },
  {
    name: 'webhook not synchronised',
    seed: 157,
    file: 'src/progress/webhook-store.ts',
    replacements: [[', isListed: true, isDurable: true }', ', isListed: true }']],
    events: [submit(0, { receiver: 'ok' }), createEvent('cut power', { gapMs: 300 })],
  },
  {
    name: 'webhook due by the clock of another replica',
    seed: 61,
    file: 'src/progress/webhooks.ts',
    replacements: [['Math.min(longestWaitMs(pending), ', '(']],
    events: [
      createEvent('set clock', { hours: 2 }),
      submit(0, { receiver: 'ok' }),
      createEvent('kill', { gapMs: 300 }),
      createEvent('set clock', { hours: -2 }),
      createEvent('start'),
    ],
  },
  {
    name: 'token forgotten with the lease',
    store: 'redis',
    seed: 94,
    file: 'src/progress/webhooks.ts',
    replacements: [['if (!isDone && token !== undefined) tokens', 'if (signal.aborted && isDone) tokens']],
    events: [
      ...[0, 0, 0, 0, 0].map(() => submit(0, { key: null, receiver: 'ok' })),
      createEvent('stall store', { gapMs: 19_983, stallMs: 3_000 }),
      createEvent('list', { gapMs: 6_000, caller: 'bob' }),
    ],
  },
  {
    name: 'token only for known webhooks',
    seed: 31,
    file: 'src/progress/webhooks.ts',
    replacements: [
      [
        'if (tokens.get(name) === token) continue;',
        'if (tokens.get(name) === token || !others.has(name)) continue;',
      ],
    ],
    events: [
      createEvent('list', { caller: 'ada' }),
      submit(100, { receiver: 'ok', replica: 1 }),
      createEvent('stop', { gapMs: 2_500, replica: 1 }),
    ],
  },
];

/** The plan of the history of a fault. */
export const mutantPlan = ({ store, replicas = 2, followers = 0, planSeed = 0, events }: Mutant): Plan => ({
  ...createPlan(planSeed, store),
  ...{ replicas, isShared: false, hasWebhooks: true, trouble: 0, storeTrouble: 0, followers, events },
});
