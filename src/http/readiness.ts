// Readiness for load balancers: not draining, and the store answers. A failing upstream makes the
// gateway degraded, not unready: every replica would see the same outage, and removing all of them
// would also remove cached answers and clear errors. READY_REQUIRES_UPSTREAM changes that.
import { withTimeout } from '../async/timeout.ts';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Why not. */
  readonly reason?: string;
  /** Bytes that the store uses, and may use at most. */
  readonly usedBytes?: number;
  readonly limitBytes?: number;
  /** What the operator should change, although it works. */
  readonly warning?: string;
}

export interface Readiness {
  readonly state: 'ready' | 'degraded' | 'unready' | 'draining';
  readonly checks: readonly Check[];
}

/** How full the store is. */
interface Usage {
  readonly usedBytes: number;
  readonly limitBytes: number | null;
  readonly evicts: boolean;
}

const EVICTS =
  'This store removes entries when it is full, and with them what was submitted; ' +
  'set maxmemory-policy to noeviction (docs/operators.md).';
const NEARLY_FULL =
  'This store is nearly full; when it is full, submissions with an idempotency key and ' +
  'bulk look-ups are refused.';
/** Above this share of its limit a store is nearly full. */
const NEARLY_FULL_SHARE = 0.9;

function detailsOf({ usedBytes, limitBytes, evicts }: Usage): Partial<Check> {
  const isNearlyFull = limitBytes !== null && usedBytes > limitBytes * NEARLY_FULL_SHARE;
  const warning = evicts ? EVICTS : isNearlyFull ? NEARLY_FULL : undefined;
  return {
    usedBytes,
    ...(limitBytes === null ? {} : { limitBytes }),
    ...(warning === undefined ? {} : { warning }),
  };
}

export interface ReadinessOptions {
  /** Throws when the store does not answer; gives how full it is, where that can be said. */
  readonly store: () => Promise<Usage | undefined>;
  readonly upstream: () => Promise<void>;
  readonly needsUpstream: boolean;
  readonly draining: () => boolean;
}

/** How long an answer is given again. */
const FRESH_MS = 1_500;
/** How long one check may take. */
export const CHECK_MS = 2_000;

const onTimeout = (): never => {
  throw new Error(`did not answer within ${CHECK_MS} ms`);
};

async function check(name: string, ask: () => Promise<Usage | undefined>): Promise<Check> {
  const since = performance.now();
  const milliseconds = () => Math.round(performance.now() - since);
  try {
    const usage = await withTimeout(ask(), CHECK_MS, onTimeout);
    return {
      name,
      ok: true,
      milliseconds: milliseconds(),
      ...(usage === undefined ? {} : detailsOf(usage)),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, ok: false, milliseconds: milliseconds(), reason };
  }
}

/** @returns asks both at most once in a while, however many want to know */
export function openReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { store, upstream, needsUpstream, draining } = options;
  let asked: { readonly at: number; readonly answer: Promise<readonly [Check, Check]> } | undefined;

  return async () => {
    if (asked === undefined || performance.now() - asked.at > FRESH_MS) {
      const answer = Promise.all([
        check('store', store),
        check('upstream', () => upstream().then(() => undefined)),
      ]);
      asked = { at: performance.now(), answer };
    }
    const [ofStore, ofUpstream] = await asked.answer;
    const checks = [ofStore, ofUpstream];
    if (draining()) return { state: 'draining', checks };
    if (!ofStore.ok || (needsUpstream && !ofUpstream.ok)) return { state: 'unready', checks };
    return { state: ofUpstream.ok ? 'ready' : 'degraded', checks };
  };
}
