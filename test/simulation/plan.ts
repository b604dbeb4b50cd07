// The events of a history, chosen by its seed. To add one, see README.md.
import { FATES, type Fate, RECEIVER_NAMES } from './service.ts';
import { Random } from './virtual-time.ts';

export const CALLERS = ['ada', 'bob'] as const;
export type CallerName = (typeof CALLERS)[number];
export type StoreKind = 'sqlite' | 'redis';

/** The parameters of events, of which each kind needs some. */
interface Parameters {
  /** The time since the event before it. */
  readonly gapMs: number;
  readonly replica: number;
  readonly caller: CallerName;
  /** Null for a submission without an idempotency key. */
  readonly key: number | null;
  /** Another one is another input. */
  readonly variant: number;
  readonly fate: Fate;
  readonly receiver: string | null;
  /** When the caller leaves; null for one that waits. */
  readonly leavesMs: number | null;
  /** The place of a batch among all. */
  readonly batch: number;
  /** How many effects a process still has before it ends. */
  readonly effects: number;
  /** Whether the log of before is removed when a copy is put back. */
  readonly isClean: boolean;
  readonly isKilled: boolean;
  /** Whether the operator accepts the copy. */
  readonly accepts: boolean;
  readonly hours: number;
  /** The end of connections to the old primary. */
  readonly end: 'closed' | 'silent' | 'demoted';
  /** When followers follow the new one; null for never. */
  readonly rejoinMs: number | null;
  readonly lostMs: number;
  readonly stallMs: number;
}
const DEFAULTS: Parameters = {
  ...{ gapMs: 0, replica: 0, caller: 'ada', key: 0, variant: 0, fate: 'ok', receiver: null, leavesMs: null },
  ...{ batch: 0, effects: 0, isClean: true, isKilled: true, accepts: false, hours: 0 },
  ...{ end: 'closed', rejoinMs: null, lostMs: 0, stallMs: 0 },
};

/** The world of a plan, for which parameters are drawn. */
interface World {
  readonly random: Random;
  readonly replicas: number;
  readonly keys: number;
  readonly hasRedis: boolean;
  readonly hasWebhooks: boolean;
  readonly isTroubled: boolean;
}
type Draw = (world: World) => Partial<Parameters>;

interface EventRule {
  /** The share of this kind. */
  readonly weight: number;
  /** The only store that it happens with; both when absent. */
  readonly store?: StoreKind;
  readonly draw?: Draw;
}

const GAPS_MS = [0, 0, 1, 30, 300, 2_500, 6_000, 21_000, 50_000, 130_000] as const;
const FATE_NAMES = Object.keys(FATES) as [Fate, ...Fate[]];

const drawCommon = ({ random, replicas }: World) => ({
  gapMs: random.pick(GAPS_MS),
  replica: random.below(replicas),
});
const drawCaller = ({ random }: World) => ({ caller: random.chance(0.85) ? CALLERS[0] : CALLERS[1] });
const drawInput = ({ random, keys }: World) => ({
  key: random.below(keys),
  variant: random.chance(0.12) ? 1 : 0,
});
const drawBatch: Draw = (world) => ({ ...drawCaller(world), batch: world.random.below(3) });
function drawSubmit(world: World): Partial<Parameters> {
  const { random, isTroubled, hasWebhooks } = world;
  const { key, variant } = drawInput(world);
  return {
    ...{ ...drawCaller(world), variant, key: random.chance(0.06) ? null : key },
    fate: isTroubled && random.chance(0.5) ? random.pick(FATE_NAMES) : 'ok',
    receiver: hasWebhooks && random.chance(0.7) ? (RECEIVER_NAMES[random.below(4)] ?? null) : null,
    leavesMs: random.chance(0.12) ? random.below(3_000) : null,
  };
}
const drawClock = ({ random, hasRedis, replicas }: World) => ({
  // With Redis the clock after those of the replicas is its own, which deletes what is old.
  ...(hasRedis ? { replica: random.below(replicas + 1) } : {}),
  hours: random.pick([-30, -2, -0.01, 0.01, 2, 20, 24 * 40]),
});

const RULES = {
  submit: { weight: 46, draw: drawSubmit },
  check: { weight: 3, draw: (world) => ({ ...drawCaller(world), ...drawInput(world) }) },
  cancel: { weight: 4, draw: drawBatch },
  watch: { weight: 5, draw: drawBatch },
  list: { weight: 2, draw: drawCaller },
  kill: {
    weight: 9,
    draw: ({ random }) => ({ effects: random.chance(0.3) ? 0 : 1 + random.below(14) }),
  },
  restore: {
    weight: 8,
    store: 'sqlite',
    draw: ({ random }) => ({
      ...{ isClean: random.chance(0.7), isKilled: random.chance(0.5), accepts: random.chance(0.3) },
    }),
  },
  days: { weight: 1, draw: ({ random }) => ({ hours: random.pick([20, 24 * 8, 24 * 30, 24 * 32]) }) },
  'set clock': { weight: 1, draw: drawClock },
  probe: { weight: 2 },
  stop: { weight: 4 },
  start: { weight: 8 },
  'rotate secret': { weight: 5 },
  'forget secret': { weight: 2 },
  'back up': { weight: 8, store: 'sqlite' },
  accept: { weight: 1 },
  'cut power': { weight: 3, store: 'sqlite' },
  'remove file': { weight: 1, store: 'sqlite' },
  'remove witness': { weight: 1, store: 'sqlite' },
  'fail over': {
    weight: 6,
    store: 'redis',
    draw: ({ random }) => ({
      end: random.pick(['closed', 'silent', 'demoted']),
      rejoinMs: random.pick([100, 3_000, 30_000, null]),
    }),
  },
  'restart store': {
    weight: 5,
    store: 'redis',
    draw: ({ random }) => ({ lostMs: random.pick([0, 300, 1_000, 1e12]) }),
  },
  'stall store': {
    weight: 4,
    store: 'redis',
    draw: ({ random }) => ({ stallMs: random.pick([500, 3_000, 20_000]) }),
  },
  'cut store': { weight: 5, store: 'redis' },
  'lose follower': { weight: 4, store: 'redis' },
  'add followers': { weight: 4, store: 'redis' },
} satisfies Record<string, EventRule>;
export type EventKind = keyof typeof RULES;
export const EVENTS: Readonly<Record<EventKind, EventRule>> = RULES;
const listKinds = (store: StoreKind): EventKind[] =>
  (Object.keys(RULES) as EventKind[]).filter((kind) => (EVENTS[kind].store ?? store) === store);

export interface Event extends Parameters {
  readonly kind: EventKind;
}
export const createEvent = (kind: EventKind, more: Partial<Parameters> = {}): Event => ({
  ...{ ...DEFAULTS, ...more, kind },
});

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

/** The states of a key when an event happens. */
const KEY_STATES = ['unused', 'being sent', 'refused', 'unknown', 'paid', 'paid, not told'];
export const LEDGER_LOST = ', ledger lost';
/** The name of an event for coverage. */
export const eventName = ({ kind, fate }: Pick<Event, 'kind' | 'fate'>): string =>
  kind === 'submit' ? `submit (${fate})` : kind;
/** All pairs of an event and the state of a key. */
export function coveragePairs(store: StoreKind): string[] {
  const names = listKinds(store).flatMap((kind) => FATE_NAMES.map((fate) => eventName({ kind, fate })));
  const states = KEY_STATES.flatMap((state) => [state, `${state}${LEDGER_LOST}`]);
  return [...new Set(names)].flatMap((name) => states.map((state) => `${name} × ${state}`));
}

function pickKind(random: Random, allowed: readonly EventKind[]): EventKind {
  let left = random.below(allowed.reduce((sum, kind) => sum + EVENTS[kind].weight, 0));
  for (const kind of allowed) {
    left -= EVENTS[kind].weight;
    if (left < 0) return kind;
  }
  return 'submit';
}

/** The plan of a seed. */
export function createPlan(seed: number, store: StoreKind = 'sqlite'): Plan {
  const random = new Random(seed);
  const hasRedis = store === 'redis';
  const replicas = random.pick([1, 2, 2, 3]);
  const hasWebhooks = random.chance(0.4);
  // A history is about some kinds of events: in one with all of them, few meet.
  const kinds = listKinds(store);
  const rare = kinds.filter((kind) => kind !== 'submit' && kind !== 'days' && kind !== 'set clock');
  const ends: [EventKind, ...EventKind[]] = hasRedis
    ? ['kill', 'stop', 'fail over', 'restart store']
    : ['kill', 'stop', 'cut power'];
  const wanted = new Set<EventKind>(['submit', 'start', random.pick(ends)]);
  for (let i = random.below(5); i >= 0; i -= 1) wanted.add(rare[random.below(rare.length)] ?? 'kill');
  if (wanted.has('restore')) wanted.add('back up');
  if (random.chance(0.2)) wanted.add(hasWebhooks ? 'set clock' : random.pick(['days', 'set clock']));
  const allowed = kinds.filter((kind) => wanted.has(kind));
  const keys = random.pick([1, 1, 2]);
  const world: World = { random, replicas, keys, hasRedis, hasWebhooks, isTroubled: random.chance(0.6) };

  const draw = (kind: EventKind, more: Draw | undefined = EVENTS[kind].draw): Event =>
    createEvent(kind, { ...drawCommon(world), ...more?.(world) });
  const drawAny = (): Event => draw(pickKind(random, allowed));
  const drawPlainSubmit = (maxGapMs: number): Event =>
    draw('submit', () => ({ ...drawCaller(world), ...drawInput(world), gapMs: random.below(maxGapMs) }));
  /** Writes between a copy and its return: chance alone seldom brings this order. */
  function drawRestore(): Event[] {
    if (!wanted.has('restore') || random.chance(0.5)) return [];
    const later = drawAny();
    const copy = draw('back up');
    const sent = drawPlainSubmit(1_500);
    const back = draw('restore', () => ({ gapMs: 100, isKilled: random.chance(0.5) }));
    return [copy, sent, back, later];
  }
  /** Writes while one clock is wrong, judged when it is right again. */
  function drawWrongClock(): Event[] {
    if (!wanted.has('set clock') || random.chance(0.5)) return [];
    const before = random.chance(0.5) ? [drawPlainSubmit(30)] : [];
    const wrong = draw('set clock');
    const sent = { ...drawPlainSubmit(300), receiver: hasWebhooks ? 'ok' : null };
    const right = { ...wrong, hours: -wrong.hours };
    const kill = draw('kill', () => ({}));
    return [...before, wrong, sent, kill, right, draw('start')];
  }
  /** A failover just after a process has written and ended, which alone knows what was written. */
  function drawFailOver(): Event[] {
    if (!wanted.has('fail over') || random.chance(0.5)) return [];
    const sent = drawPlainSubmit(300);
    const kill = draw('kill', () => ({ gapMs: 50 + random.below(100), replica: sent.replica }));
    return [sent, kill, { ...draw('fail over'), gapMs: 0 }];
  }
  /** A webhook is begun last of all, and its lease is lost: its replica ends, or Redis hangs. */
  function drawLostLease(): Event[] {
    if (!hasWebhooks || random.chance(0.7)) return [];
    const sent = { receiver: 'ok', key: null };
    if (!hasRedis || random.chance(0.5)) {
      const replica = replicas - 1;
      const end = random.pick<EventKind>(['kill', 'stop']);
      const order = [createEvent('list'), createEvent('submit', { ...sent, replica, gapMs: 100 })];
      return [...order, createEvent(end, { replica, gapMs: random.below(5_000) })];
    }
    // Leases are renewed 20 s after the start.
    const hang = createEvent('stall store', { gapMs: 19_975 + random.below(30), stallMs: 3_000 });
    const submit = createEvent('submit', sent);
    const last = createEvent('list', { caller: 'bob', gapMs: 3_000 });
    return [createEvent('kill'), createEvent('start'), submit, submit, hang, last];
  }
  return {
    ...{ seed, store, replicas, hasWebhooks, isShared: random.chance(0.25) },
    trouble: random.chance(0.3) ? 0.15 : 0,
    followers: hasRedis ? random.pick([0, 1, 1, 2]) : 0,
    storeTrouble: hasRedis && random.chance(0.5) ? 0.05 : 0,
    events: [
      ...Array.from({ length: 4 + random.below(12) }, drawAny),
      ...[...drawRestore(), ...drawWrongClock(), ...drawFailOver(), ...drawLostLease()],
    ],
  };
}
