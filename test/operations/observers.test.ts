// Observers never change an answer of the service: a paid Submit is answered although tracing,
// metrics or the log throw.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nonRecordingTracer, type SpanTracer } from '../../src/telemetry/trace-context.ts';
import { testLogger } from '../record.ts';
import { type Liar, openLiar, openPlace } from '../upstream/liar.ts';

const SUBMIT = `mutation {
  submitFold(input: { items: [{ chains: [{ protein: { sequence: "MKTAYIAKQR" } }] }] }) {
    __typename
    ... on FoldSubmitted { batch { batchId } }
  }
}`;
const PAID = { submitFold: { __typename: 'FoldSubmitted', batch: { batchId: 'b1' } } };

const fail = (): never => {
  throw new Error('the observer is broken');
};

let liar: Liar;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => liar.reset());

const sent = () => liar.seen.map(({ operation }) => operation);

/** A tracer whose spans are recorded and cannot end. */
const endless: SpanTracer = {
  startSpan: (...options) =>
    Object.assign(nonRecordingTracer.startSpan(...options), { isRecording: () => true, end: fail }),
};

it.each<[string, SpanTracer]>([
  ['cannot begin', { startSpan: fail }],
  ['cannot end', endless],
])('answers a paid Submit whose spans %s, and logs why', async (_, tracer) => {
  const lines: string[] = [];
  const tracing = { tracer, close: async () => undefined };
  const place = openPlace(liar.url, {}, { tracing, log: testLogger((line) => lines.push(line)) });
  expect(await place.query(SUBMIT)).toEqual({ data: PAID });
  expect(sent()).toEqual(['submit']);
  expect(lines.join('')).toContain('the observer is broken');
  await place.gateway.close();
});

it('answers a paid Submit whose metrics throw, and logs why', async () => {
  const lines: string[] = [];
  const place = openPlace(liar.url, {}, { log: testLogger((line) => lines.push(line)) });
  const { metrics } = place.gateway;
  for (const metric of [metrics.upstreamCalls, metrics.operations, metrics.requests]) metric.inc = fail;
  for (const metric of [metrics.upstreamSeconds, metrics.operationSeconds]) metric.observe = fail;
  expect(await place.query(SUBMIT)).toEqual({ data: PAID });
  expect(sent()).toEqual(['submit']);
  expect(lines.join('')).toContain('the observer is broken');
  await place.gateway.close();
});

it('answers a paid Submit whose log cannot be written', async () => {
  const place = openPlace(liar.url, {}, { log: testLogger(fail) });
  expect(await place.query(SUBMIT)).toEqual({ data: PAID });
  expect(sent()).toEqual(['submit']);
  await place.gateway.close();
});
