// The events of a history, chosen by its seed. To add one, see README.md.
import { FATES, type Fate, RECEIVER_NAMES } from './service.ts';
import { Random } from './virtual-time.ts';

export const CALLERS = ['ada', 'bob'] as const;
export type CallerName = (typeof CALLERS)[number];

/** One event, and the time since the event before it. */
export type Event = { readonly gapMs: number; readonly replica: number } & (
  | {
      readonly kind: 'submit';
      readonly caller: CallerName;
      /** Null for a submission without an idempotency key. */
      readonly key: number | null;
      /** Another one is another input. */
      readonly variant: number;
      readonly fate: Fate;
      readonly receiver: string | null;
      /** When the caller leaves; null for one that waits. */
      readonly leavesMs: number | null;
    }
  | { readonly kind: 'check'; readonly caller: CallerName; readonly key: number; readonly variant: number }
  | { readonly kind: 'cancel' | 'watch'; readonly caller: CallerName; readonly batch: number }
  | { readonly kind: 'list'; readonly caller: CallerName }
  | { readonly kind: 'kill'; readonly effects: number }
  | {
      readonly kind: 'restore';
      readonly isClean: boolean;
      readonly isKilled: boolean;
      readonly accepts: boolean;
    }
  | { readonly kind: 'set clock' | 'days'; readonly hours: number }
  | {
      readonly kind: 'fail over';
      /** The end of connections to the old primary. */
      readonly end: 'closed' | 'silent' | 'demoted';
      /** When followers follow the new one; null for never. */
      readonly rejoinMs: number | null;
    }
  | { readonly kind: 'restart store'; readonly lostMs: number }
  | { readonly kind: 'stall store'; readonly stallMs: number }
  | { readonly kind: Plain }
);
const PLAIN = [
  'probe',
  'stop',
  'start',
  'rotate secret',
  'forget secret',
  'back up',
  'accept',
  'cut power',
  'remove file',
  'remove witness',
  'cut store',
  'lose follower',
  'add followers',
] as const;
type Plain = (typeof PLAIN)[number];
export type EventKind = Event['kind'];

export type StoreKind = 'sqlite' | 'redis';

export interface Plan {
  readonly seed: number;
  readonly store: StoreKind;
  /** How many followers a Redis has. */
  readonly followers: number;
  /** The share of commands of Redis that meet trouble. */
  readonly storeTrouble: number;
  readonly replicas: number;
  /** Whether all callers use one key of the service. */
  readonly isShared: boolean;
  readonly hasWebhooks: boolean;
  /** The share of reads of the service that fail. */
  readonly trouble: number;
  readonly events: readonly Event[];
}

const GAPS_MS = [0, 0, 1, 30, 300, 2_500, 6_000, 21_000, 50_000, 130_000] as const;
const FATE_NAMES = Object.keys(FATES) as [Fate, ...Fate[]];

/** The share of each kind of event. */
const WEIGHTS = {
  ...{ submit: 46, check: 3, cancel: 4, watch: 5, list: 2, kill: 9, restore: 8, days: 1, 'set clock': 1 },
  ...{ probe: 2, stop: 4, start: 8, 'rotate secret': 5, 'forget secret': 2, 'back up': 8, accept: 1 },
  ...{ 'cut power': 3, 'remove file': 1, 'remove witness': 1 },
  ...{
    'fail over': 6,
    'restart store': 5,
    'stall store': 4,
    'cut store': 5,
    'lose follower': 4,
    'add followers': 4,
  },
} as const satisfies Record<EventKind, number>;
/** Events of one kind of store. */
const ONLY_SQLITE: readonly EventKind[] = [
  'restore',
  'back up',
  'cut power',
  'remove file',
  'remove witness',
];
export const ONLY_REDIS: readonly EventKind[] = [
  ...['fail over', 'restart store', 'stall store', 'cut store'],
  ...['lose follower', 'add followers'],
] as const;
const ALL_KINDS = Object.keys(WEIGHTS) as EventKind[];
const KINDS: Readonly<Record<StoreKind, readonly EventKind[]>> = {
  sqlite: ALL_KINDS.filter((kind) => !ONLY_REDIS.includes(kind)),
  redis: ALL_KINDS.filter((kind) => !ONLY_SQLITE.includes(kind)),
};

/** The states of a key when an event happens. */
const KEY_STATES = ['unused', 'being sent', 'refused', 'unknown', 'paid', 'paid, not told'];
export const LEDGER_LOST = ', ledger lost';
/** The name of an event for coverage. */
export const eventName = (event: Event): string =>
  event.kind === 'submit' ? `submit (${event.fate})` : event.kind;
/** All pairs of an event and the state of a key. */
export function coveragePairs(store: StoreKind): string[] {
  const names = [...KINDS[store], ...FATE_NAMES.map((fate) => `submit (${fate})`)];
  const states = KEY_STATES.flatMap((state) => [state, `${state}${LEDGER_LOST}`]);
  return names
    .filter((name) => name !== 'submit')
    .flatMap((name) => states.map((state) => `${name} × ${state}`));
}

function pickKind(random: Random, allowed: readonly EventKind[]): EventKind {
  const total = allowed.reduce((sum, kind) => sum + WEIGHTS[kind], 0);
  let left = random.below(total);
  for (const kind of allowed) {
    left -= WEIGHTS[kind];
    if (left < 0) return kind;
  }
  return 'submit';
}

/** The plan of a seed. */
export function createPlan(seed: number, store: StoreKind = 'sqlite'): Plan {
  const random = new Random(seed);
  const isRedis = store === 'redis';
  const replicas = random.pick([1, 2, 2, 3]);
  const hasWebhooks = random.chance(0.4);
  // A history is about some kinds of events: in one with all of them, few meet.
  const rare = KINDS[store].filter((kind) => kind !== 'submit' && kind !== 'days' && kind !== 'set clock');
  const end: EventKind = isRedis
    ? random.pick(['kill', 'stop', 'fail over', 'restart store'])
    : random.pick(['kill', 'stop', 'cut power']);
  const wanted = new Set<EventKind>(['submit', 'start', end]);
  for (let i = random.below(5); i >= 0; i -= 1) wanted.add(rare[random.below(rare.length)] ?? 'kill');
  if (wanted.has('restore')) wanted.add('back up');
  if (random.chance(0.2)) wanted.add(hasWebhooks ? 'set clock' : random.pick(['days', 'set clock']));
  const allowed = KINDS[store].filter((kind) => wanted.has(kind));
  const keys = random.pick([1, 1, 2]);
  const isTroubled = random.chance(0.6);

  const common = () => ({ gapMs: random.pick(GAPS_MS), replica: random.below(replicas) });
  const who = () => ({ caller: random.chance(0.85) ? CALLERS[0] : CALLERS[1] });
  const input = () => ({ key: random.below(keys), variant: random.chance(0.12) ? 1 : 0 });
  const createClock = (at: { readonly gapMs: number; readonly replica: number }) => ({
    ...{ ...at, kind: 'set clock' as const },
    // With Redis the clock after those of the replicas is its own, which deletes what is old.
    replica: isRedis ? random.below(replicas + 1) : at.replica,
    hours: random.pick([-30, -2, -0.01, 0.01, 2, 20, 24 * 40]),
  });
  function createEvent(): Event {
    const kind = pickKind(random, allowed);
    const at = common();
    if (kind === 'submit') {
      const { key, variant } = input();
      return {
        ...{ ...at, kind, ...who(), variant, key: random.chance(0.06) ? null : key },
        fate: isTroubled && random.chance(0.5) ? random.pick(FATE_NAMES) : 'ok',
        receiver: hasWebhooks && random.chance(0.7) ? (RECEIVER_NAMES[random.below(4)] ?? null) : null,
        leavesMs: random.chance(0.12) ? random.below(3_000) : null,
      };
    }
    if (kind === 'check') return { ...at, kind, ...who(), ...input() };
    if (kind === 'cancel' || kind === 'watch') return { ...at, kind, ...who(), batch: random.below(3) };
    if (kind === 'list') return { ...at, kind, ...who() };
    if (kind === 'kill') return { ...at, kind, effects: random.chance(0.3) ? 0 : 1 + random.below(14) };
    if (kind === 'restore')
      return {
        ...at,
        kind,
        isClean: random.chance(0.7),
        isKilled: random.chance(0.5),
        accepts: random.chance(0.3),
      };
    if (kind === 'days') return { ...at, kind, hours: random.pick([20, 24 * 8, 24 * 30, 24 * 32]) };
    if (kind === 'set clock') return createClock(at);
    if (kind === 'fail over')
      return {
        ...{ ...at, kind, end: random.pick(['closed', 'silent', 'demoted']) },
        rejoinMs: random.pick([100, 3_000, 30_000, null]),
      };
    if (kind === 'restart store') return { ...at, kind, lostMs: random.pick([0, 300, 1_000, 1e12]) };
    if (kind === 'stall store') return { ...at, kind, stallMs: random.pick([500, 3_000, 20_000]) };
    return { ...at, kind };
  }
  const createSubmit = (maxGapMs: number): Extract<Event, { kind: 'submit' }> => ({
    ...{ ...common(), kind: 'submit', ...who(), ...input(), gapMs: random.below(maxGapMs) },
    ...{ fate: 'ok', receiver: null, leavesMs: null },
  });
  /** Writes between a copy and its return: chance alone seldom brings this order. */
  function createRestore(): Event[] {
    if (!wanted.has('restore') || random.chance(0.5)) return [];
    const event = createEvent();
    const copy: Event = { ...common(), kind: 'back up' };
    const sent = createSubmit(1_500);
    const back: Event = {
      ...{ ...common(), kind: 'restore', gapMs: 100 },
      ...{ isClean: true, isKilled: random.chance(0.5), accepts: false },
    };
    return [copy, sent, back, event];
  }
  /** Writes while one clock is wrong, judged when it is right again. */
  function createWrongClock(): Event[] {
    if (!wanted.has('set clock') || random.chance(0.5)) return [];
    const before = random.chance(0.5) ? [createSubmit(30)] : [];
    const wrong = createClock(common());
    const sent = { ...createSubmit(300), receiver: hasWebhooks ? 'ok' : null };
    const right: Event = { ...wrong, hours: -wrong.hours };
    return [
      ...[...before, wrong, sent],
      ...[{ ...common(), kind: 'kill', effects: 0 } as const, right, { ...common(), kind: 'start' } as const],
    ];
  }
  return {
    ...{ seed, store, replicas, hasWebhooks, isShared: random.chance(0.25) },
    trouble: random.chance(0.3) ? 0.15 : 0,
    followers: isRedis ? random.pick([0, 1, 1, 2]) : 0,
    storeTrouble: isRedis && random.chance(0.5) ? 0.05 : 0,
    events: [
      ...Array.from({ length: 4 + random.below(12) }, createEvent),
      ...createRestore(),
      ...createWrongClock(),
    ],
  };
}
