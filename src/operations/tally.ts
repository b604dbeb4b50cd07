// Counters whose every step is one look-up: what they have counted is added up here and told to prom-client when somebody reads it. It
// would check and sort the labels at every step, and there are half a dozen for each request.
import { Counter, type CounterConfiguration } from 'prom-client';

export interface Tally<L extends string> {
  /** @param by - how many at once; one when absent */
  inc(labels: Readonly<Record<L, string>>, by?: number): void;
}

/** Opens a counter. Its labels must have few values: each combination is kept for ever. */
export function openTally<L extends string>(
  configuration: Omit<CounterConfiguration<L>, 'labelNames' | 'collect'> & {
    readonly labelNames: readonly L[];
  },
): Tally<L> {
  const { labelNames } = configuration;
  const counts = new Map<string, { readonly labels: Readonly<Record<L, string>>; since: number }>();
  new Counter<L>({
    ...configuration,
    collect() {
      for (const counted of counts.values()) {
        if (counted.since > 0) this.inc(counted.labels, counted.since);
        counted.since = 0;
      }
    },
  });
  return {
    inc(labels, by = 1) {
      let key = '';
      for (const name of labelNames) key += `${labels[name]}\n`;
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { labels, since: by });
      else known.since += by;
    },
  };
}
