// Plays histories in a thread of its own, and shrinks those that break a promise.
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { type Line, type Outcome, playHistory } from './history.ts';
import type { Violation } from './judge.ts';
import { createPlan, type Event, type Plan, type StoreKind } from './plan.ts';

/** The plans of a thread, and its seeds: every `step`th from `from`, below `to`. */
export interface Task {
  readonly plans: readonly Plan[];
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly store: StoreKind;
  /** Ends when all threads have found as many. */
  readonly maxFound: number;
  /** In memory that threads share. */
  readonly foundCount: Int32Array;
  /** For files, and for the socket of Redis. */
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

/** Parameters of events, each with its simplest value. */
const SIMPLEST = Object.entries({ gapMs: 0, replica: 0, fate: 'ok', receiver: null, leavesMs: null });
const SIMPLEST_WORLD: readonly Partial<Plan>[] = [
  ...[{ trouble: 0 }, { storeTrouble: 0 }, { followers: 0 }, { replicas: 1 }, { isShared: false }],
];

/** Makes a plan simpler in one place. */
type Edit = (plan: Plan) => Plan;

/** The edits of a plan. One that removes events leaves the places of earlier ones. */
function* edits({ events }: Plan): Generator<Edit> {
  for (let size = events.length >> 1; size > 0; size >>= 1)
    for (let end = events.length; end > 0; end -= size) {
      const start = Math.max(0, end - size);
      yield (plan) => ({ ...plan, events: plan.events.toSpliced(start, end - start) });
    }
  for (const index of events.keys())
    for (const [name, value] of SIMPLEST)
      yield (plan) => {
        const event = plan.events[index];
        if (event === undefined || !(name in event)) return plan;
        return { ...plan, events: plan.events.with(index, { ...event, [name]: value }) };
      };
  for (const simplest of SIMPLEST_WORLD) yield (plan) => ({ ...plan, ...simplest });
}

/** Makes a plan simpler, for as long as the same promise is broken. */
async function shrink(
  plan: Plan,
  outcome: Outcome,
  violation: Violation,
  play: (plan: Plan) => Promise<Outcome>,
): Promise<Found> {
  let best = { plan, outcome, violation };
  for (let hasShrunk = true; hasShrunk; ) {
    hasShrunk = false;
    for (const edit of edits(best.plan)) {
      const smaller = edit(best.plan);
      if (JSON.stringify(smaller) === JSON.stringify(best.plan)) continue;
      const played = await play(smaller);
      if (played.violation?.rule !== violation.rule) continue;
      best = { plan: smaller, outcome: played, violation: played.violation };
      hasShrunk = true;
    }
  }
  const { seed, store, events } = best.plan;
  return { seed, store, events, violation: best.violation, lines: best.outcome.history.lines };
}

function* allPlans({ plans, from, to, step, store }: Task): Generator<Plan> {
  yield* plans;
  for (let seed = from; seed < to; seed += step) yield createPlan(seed, store);
}

async function run(task: Task): Promise<Report> {
  const { maxFound, foundCount, folder } = task;
  const coverage: Record<string, number> = {};
  const found: Found[] = [];
  let played = 0;
  const play = (plan: Plan) => playHistory(plan, folder, threadId);
  for (const plan of allPlans(task)) {
    const outcome = await play(plan);
    played += 1;
    for (const pair of outcome.history.coverage) coverage[pair] = (coverage[pair] ?? 0) + 1;
    if (outcome.violation !== undefined) {
      Atomics.add(foundCount, 0, 1);
      found.push(await shrink(plan, outcome, outcome.violation, play));
    }
    if (Atomics.load(foundCount, 0) >= maxFound) break;
  }
  return { played, found, coverage };
}

parentPort?.postMessage(await run(workerData as Task));
