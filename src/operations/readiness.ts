// Whether this gateway should be sent traffic: it is not being stopped and its store answers. An upstream that is away makes it
// degraded, not unready: every replica would see the same outage, and taking all of them out of the load balancer would turn
// answers from what is kept, and errors that say what is wrong, into none. READY_REQUIRES_UPSTREAM says otherwise where wanted.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Why not. */
  readonly reason?: string;
}

export interface Readiness {
  readonly state: 'ready' | 'degraded' | 'unready' | 'draining';
  readonly checks: readonly Check[];
}

export interface ReadinessOptions {
  readonly store: () => Promise<void>;
  readonly upstream: () => Promise<void>;
  readonly needsUpstream: boolean;
  readonly draining: () => boolean;
}

/** How long an answer is given again. */
const FRESH_MS = 1_500;
/** How long one check may take. */
export const CHECK_MS = 2_000;

const late = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`did not answer within ${CHECK_MS} ms`)), CHECK_MS).unref();
  });

async function check(name: string, ask: () => Promise<void>): Promise<Check> {
  const since = performance.now();
  const milliseconds = () => Math.round(performance.now() - since);
  try {
    await Promise.race([ask(), late()]);
    return { name, ok: true, milliseconds: milliseconds() };
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
      const answer = Promise.all([check('store', store), check('upstream', upstream)]);
      asked = { at: performance.now(), answer };
    }
    const [ofStore, ofUpstream] = await asked.answer;
    const checks = [ofStore, ofUpstream];
    if (draining()) return { state: 'draining', checks };
    if (!ofStore.ok || (needsUpstream && !ofUpstream.ok)) return { state: 'unready', checks };
    return { state: ofUpstream.ok ? 'ready' : 'degraded', checks };
  };
}
