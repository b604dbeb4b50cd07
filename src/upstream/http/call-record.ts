// Records the upstream cost of one request.
import type { CallReport, Upstream } from './upstream-client.ts';

interface OperationCost {
  calls: number;
  /** From the question to the first byte of the answer, summed over the calls. */
  milliseconds: number;
  bytes: number;
}

/** What a request has cost upstream. A shared call counts for the request that made it. */
export interface RequestCost {
  /** Calls that it may have cost at most, as MAX_QUERY_COST counts them. */
  readonly cost: number;
  readonly calls: number;
  readonly bytes: number;
  readonly milliseconds: number;
  readonly operations: Readonly<Record<string, OperationCost>>;
  /** Answers that were there already, by what they are. */
  readonly cacheHits: Readonly<Record<string, number>>;
}

export interface CallRecord {
  /** For the `Upstream` of the request. */
  readonly hooks: Pick<Upstream, 'onCall' | 'onBytes' | 'onCost' | 'onCacheHit'>;
  read(): RequestCost;
}

export function createCallRecord(): CallRecord {
  const operations = new Map<string, OperationCost>();
  const hits = new Map<string, number>();
  let cost = 0;
  const costOf = (operation: string): OperationCost => {
    const known = operations.get(operation) ?? { calls: 0, milliseconds: 0, bytes: 0 };
    operations.set(operation, known);
    return known;
  };
  return {
    hooks: {
      onCall({ operation, milliseconds }: CallReport) {
        const known = costOf(operation);
        known.calls += 1;
        known.milliseconds += milliseconds;
      },
      onBytes(operation: string, bytes: number) {
        costOf(operation).bytes += bytes;
      },
      onCost: (calls: number) => {
        cost += calls;
      },
      onCacheHit: (what: string, count: number) => void hits.set(what, (hits.get(what) ?? 0) + count),
    },
    read() {
      const all = [...operations.values()];
      const sum = (key: keyof OperationCost) => all.reduce((total, cost) => total + cost[key], 0);
      return {
        cost,
        calls: sum('calls'),
        bytes: sum('bytes'),
        milliseconds: Math.round(sum('milliseconds')),
        operations: Object.fromEntries(
          [...operations].map(([name, cost]) => [
            name,
            { ...cost, milliseconds: Math.round(cost.milliseconds) },
          ]),
        ),
        cacheHits: Object.fromEntries(hits),
      };
    },
  };
}
