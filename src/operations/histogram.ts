// Histograms whose every observation is one look-up and a search of a few bounds. prom-client would check, sort and write out the labels at
// each, and there are two or three for each request; it is given the numbers when somebody reads them.
import { Histogram, type HistogramConfiguration } from 'prom-client';

export interface Histograms<L extends string> {
  observe(labels: Readonly<Record<L, string>>, value: number): void;
}

export interface HistogramOptions<L extends string>
  extends Pick<HistogramConfiguration<L>, 'name' | 'help' | 'registers'> {
  /** One label. It must have few values: each is kept for ever. */
  readonly label: L;
  /** Upper bounds, which belong to what they bound, in ascending order. */
  readonly bounds: readonly number[];
}

/** What was observed under one value of the label: how often within each bound and not the one before, beyond the last, and the sum. */
interface Observed {
  readonly counts: number[];
  sum: number;
}

type Told = Awaited<ReturnType<Histogram['get']>>;

/** A histogram as prom-client's registry asks for it, as text by one name and as JSON by the other. */
class ToldHistogram extends Histogram {
  private readonly empty: Histogram;
  private readonly values: () => Told['values'];

  constructor(configuration: HistogramConfiguration<string>, values: () => Told['values']) {
    super(configuration);
    this.empty = new Histogram({ ...configuration, registers: [] });
    this.values = values;
  }
  override async get(): Promise<Told> {
    return { ...(await this.empty.get()), values: this.values() };
  }
  getForPromString(): Promise<Told> {
    return this.get();
  }
}

/** Opens a histogram for each value of a label. */
export function openHistograms<L extends string>(options: HistogramOptions<L>): Histograms<L> {
  const { label, bounds, ...configuration } = options;
  const { name } = configuration;
  const observed = new Map<string, Observed>();

  function* valuesOf(value: string, { counts, sum }: Observed): Generator<Told['values'][number]> {
    let within = 0;
    for (const [i, count] of counts.entries()) {
      within += count;
      const le = bounds[i] ?? '+Inf';
      yield { metricName: `${name}_bucket`, labels: { le, [label]: value }, value: within };
    }
    yield { metricName: `${name}_sum`, labels: { [label]: value }, value: sum };
    yield { metricName: `${name}_count`, labels: { [label]: value }, value: within };
  }

  new ToldHistogram({ ...configuration, labelNames: [label], buckets: [...bounds] }, () =>
    [...observed].flatMap(([value, one]) => [...valuesOf(value, one)]),
  );
  return {
    observe(labels, value) {
      let one = observed.get(labels[label]);
      if (one === undefined) {
        one = { counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
        observed.set(labels[label], one);
      }
      let bucket = 0;
      while (value > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
      one.sum += value;
    },
  };
}
