// Held against prom-client's own histogram: the same observations have to come to the same text and the same JSON.
import fc from 'fast-check';
import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { openHistograms } from '../../src/operations/histogram.ts';

const BOUNDS = [0.005, 0.1, 1, 60];
const SHAPE = { name: 'foldatlas_test_seconds', help: 'How long it took.' };

function both() {
  const [own, theirs] = [new Registry(), new Registry()];
  return {
    own,
    theirs,
    histograms: openHistograms({ ...SHAPE, label: 'route', bounds: BOUNDS, registers: [own] }),
    histogram: new Histogram({ ...SHAPE, labelNames: ['route'], buckets: BOUNDS, registers: [theirs] }),
  };
}

const observation = fc.record({
  route: fc.constantFrom('/graphql', '/health', 'a "quoted"\\ route\n'),
  // Values on a bound belong to it.
  seconds: fc.oneof(fc.constantFrom(0, ...BOUNDS), fc.double({ min: 0, max: 200, noNaN: true })),
});

describe('a histogram', () => {
  it("says what prom-client's own says, as text and as JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { maxLength: 60 }), async (observations) => {
        const { own, theirs, histograms, histogram } = both();
        for (const { route, seconds } of observations) {
          histograms.observe({ route }, seconds);
          histogram.observe({ route }, seconds);
        }
        expect(await own.metrics()).toBe(await theirs.metrics());
        // prom-client's has one member more, for exemplars.
        expect(await theirs.getMetricsAsJSON()).toMatchObject(await own.getMetricsAsJSON());
      }),
    );
  });
  it('goes on counting after it was read, and is added up over processes', async () => {
    const worker = async (seconds: readonly number[]) => {
      const { own, histograms } = both();
      for (const one of seconds) {
        histograms.observe({ route: '/graphql' }, one);
        await own.metrics();
      }
      return own.getMetricsAsJSON();
    };
    const text = await AggregatorRegistry.aggregate([
      await worker([0.005, 0.5]),
      await worker([99]),
    ]).metrics();
    expect(text.split('\n').filter((line) => line.includes('route'))).toEqual([
      'foldatlas_test_seconds_bucket{le="0.005",route="/graphql"} 1',
      'foldatlas_test_seconds_bucket{le="0.1",route="/graphql"} 1',
      'foldatlas_test_seconds_bucket{le="1",route="/graphql"} 2',
      'foldatlas_test_seconds_bucket{le="60",route="/graphql"} 2',
      'foldatlas_test_seconds_bucket{le="+Inf",route="/graphql"} 3',
      'foldatlas_test_seconds_sum{route="/graphql"} 99.505',
      'foldatlas_test_seconds_count{route="/graphql"} 3',
    ]);
  });
});
