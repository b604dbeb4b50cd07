// Plays seeds in a thread of its own, and shrinks what breaks a promise.
import { type Line, type Outcome, playHistory } from './history.ts';
import type { Violation } from './judge.ts';
import { createPlan, type Event, type Plan, type StoreKind } from './plan.ts';

/** The seeds of a worker: every `step`th from `from`, below `to`. */
export interface Task {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** Plays these instead of seeds. */
  readonly plans?: readonly Plan[];
  /** Ends at the first broken promise. */
  readonly isFirstOnly: boolean;
  /** Ends also when this is 1, in memory that threads share. */
  readonly stop: Int32Array;
  readonly store: StoreKind;
  /** For the files of this thread, and for the socket of its Redis. */
  readonly folder: string;
}

/** A history that breaks a promise, as short as it could be made. */
export interface Found {
  readonly seed: number;
  readonly store: StoreKind;
  readonly violation: Violation;
  readonly events: readonly Event[];
  readonly lines: readonly Line[];
}

export interface Report {
  readonly played: number;
  readonly found: readonly Found[];
  readonly coverage: Readonly<Record<string, number>>;
}

/** Plays without some events, for as long as the same promise is broken. */
async function shrink(
  plan: Plan,
  outcome: Outcome,
  play: (plan: Plan) => Promise<Outcome>,
): Promise<Found | undefined> {
  const { violation } = outcome;
  if (violation === undefined) return undefined;
  let best = { plan, outcome, violation };
  const attempt = async (events: readonly Event[], rest: Partial<Plan> = {}): Promise<boolean> => {
    const smaller = { ...best.plan, ...rest, events };
    const played = await play(smaller);
    if (played.violation?.rule !== violation.rule) return false;
    best = { plan: smaller, outcome: played, violation: played.violation };
    return true;
  };
  for (let hasShrunk = true; hasShrunk; ) {
    hasShrunk = false;
    for (let size = best.plan.events.length >> 1; size > 0; size >>= 1)
      for (let start = 0; start + size <= best.plan.events.length; )
        if (await attempt(best.plan.events.filter((_, i) => i < start || i >= start + size)))
          hasShrunk = true;
        else start += size;
  }
  for (const [index, event] of best.plan.events.entries()) {
    const simpler: Event[] = [
      { ...event, gapMs: 0 },
      { ...event, replica: 0 },
    ];
    if (event.kind === 'submit')
      simpler.push({ ...event, fate: 'ok' }, { ...event, receiver: null }, { ...event, leavesMs: null });
    for (const one of simpler) {
      const now = best.plan.events[index];
      if (now !== undefined)
        await attempt(
          best.plan.events.with(index, {
            ...now,
            ...Object.fromEntries(
              Object.entries(one).filter(([name, value]) => event[name as keyof Event] !== value),
            ),
          } as Event),
        );
    }
  }
  await attempt(best.plan.events, { trouble: 0 });
  await attempt(best.plan.events, { storeTrouble: 0 });
  await attempt(best.plan.events, { followers: 0 });
  await attempt(best.plan.events, { replicas: 1 });
  await attempt(best.plan.events, { isShared: false });
  return {
    ...{ seed: plan.seed, store: plan.store },
    violation: best.violation,
    events: best.plan.events,
    lines: best.outcome.history.lines,
  };
}

function* plansOf({ from, to, step, plans, store }: Task): Generator<Plan> {
  if (plans !== undefined) return yield* plans;
  for (let seed = from; seed < to; seed += step) yield createPlan(seed, store);
}

/** Plays a task. */
export async function run(task: Task): Promise<Report> {
  const { isFirstOnly, stop, folder } = task;
  const coverage: Record<string, number> = {};
  const found: Found[] = [];
  let played = 0;
  const play = (plan: Plan) => playHistory(plan, folder);
  for (const plan of plansOf(task)) {
    const outcome = await play(plan);
    played += 1;
    for (const pair of outcome.history.coverage) coverage[pair] = (coverage[pair] ?? 0) + 1;
    const shrunk = await shrink(plan, outcome, play);
    if (shrunk !== undefined) found.push(shrunk);
    if (isFirstOnly && found.length > 0) stop[0] = 1;
    if (stop[0] === 1 || found.length >= 5) break;
  }
  return { played, found, coverage };
}
