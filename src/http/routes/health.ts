// Monitoring: GET /health (the event loop runs), /ready (ready for traffic) and /metrics
// (Prometheus).
import { withTimeout } from '../../async/deadline.ts';
import { METRICS_REFUSALS, type MetricsAccess, refuseMetrics } from '../access/shared-secrets.ts';
import type { HttpResponse } from '../exchange.ts';
import { textResponse } from './responses.ts';
import type { Route } from './route.ts';

export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  /** Why not. */
  readonly reason?: string;
  /** Bytes that the store uses, and may use at most. */
  readonly usedBytes?: number;
  readonly limitBytes?: number;
  /** Advice for the operator, although the check passes. */
  readonly warning?: string;
}

export interface Readiness {
  readonly state: 'ready' | 'degraded' | 'unready' | 'draining';
  readonly checks: readonly HealthCheck[];
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

function usageDetails({ usedBytes, limitBytes, evicts }: Usage): Partial<HealthCheck> {
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
  readonly draining: () => boolean;
}

/** How long an answer is given again. */
const FRESH_MS = 1_500;
/** How long one check may take. */
export const CHECK_MS = 2_000;

const onTimeout = (): never => {
  throw new Error(`did not answer within ${CHECK_MS} ms`);
};

async function check(name: string, ask: () => Promise<Usage | undefined>): Promise<HealthCheck> {
  const since = performance.now();
  const milliseconds = () => Math.round(performance.now() - since);
  try {
    const usage = await withTimeout(ask(), CHECK_MS, onTimeout);
    return {
      name,
      ok: true,
      milliseconds: milliseconds(),
      ...(usage === undefined ? {} : usageDetails(usage)),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, ok: false, milliseconds: milliseconds(), reason };
  }
}

/** @returns asks both at most once in a while, however many want to know */
export function openReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { store, upstream, draining } = options;
  let asked:
    | { readonly at: number; readonly answer: Promise<readonly [HealthCheck, HealthCheck]> }
    | undefined;

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
    if (!ofStore.ok) return { state: 'unready', checks };
    return { state: ofUpstream.ok ? 'ready' : 'degraded', checks };
  };
}

export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

const json = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: `${JSON.stringify(body)}\n`,
});

export const healthRoute: Route = {
  path: /^\/health$/,
  described: { '/health': { summary: 'Whether the process runs', type: 'application/json' } },
  answer: () => json(200, { alive: true }),
};

/** @param readiness - 200 for `ready` and `degraded`, 503 for `unready` and `draining` */
export const readyRoute = (readiness: () => Promise<Readiness>): Route => ({
  path: /^\/ready$/,
  described: {
    '/ready': {
      summary: 'Whether the gateway can serve, and why not',
      type: 'application/json',
      others: { 503: 'It cannot serve, or is stopping.' },
    },
  },
  async answer() {
    const answer = await readiness();
    return json(answer.state === 'ready' || answer.state === 'degraded' ? 200 : 503, answer);
  },
});

/** Sends the metrics, or a refusal to clients that may not read them. */
export const metricsRoute = (source: MetricsSource, access: MetricsAccess): Route => ({
  path: /^\/metrics$/,
  described: { '/metrics': { summary: 'Metrics for Prometheus', type: 'text/plain' } },
  async answer({ exchange: { headers, remoteAddress } }) {
    const refusal = refuseMetrics(access, headers, remoteAddress);
    if (refusal !== undefined)
      return textResponse(
        refusal,
        METRICS_REFUSALS[refusal],
        refusal === 401 ? { 'www-authenticate': 'Bearer' } : {},
      );
    const described = { 'content-type': source.contentType, 'cache-control': 'no-store' };
    return { status: 200, headers: described, body: await source.text() };
  },
});
