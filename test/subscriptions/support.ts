// Shared by the tests of live progress and bulk look-ups: hashes known and unknown, waiting for a
// condition, a clock that runs fast.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import { ManualClock } from '../../sandbox/src/clock.ts';
import type { GatewayLimits } from '../../src/config/limits.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { PollScheduleOptions } from '../../src/progress/poll-schedule.ts';
import type { BreakerRules } from '../../src/upstream/http/breaker.ts';
import { recorded, testLogger } from '../record.ts';
import { type Answer, at } from '../support.ts';

/**
 * A gateway of its own over a sandbox that others use, too. @param pulseMs - between two signs of
 * life in a silent stream
 */
export function openGateway(
  upstreamUrl: string,
  env: Record<string, string> = {},
  pace?: PollScheduleOptions,
  breaker?: BreakerRules,
  pulseMs = 300,
  limits: Partial<GatewayLimits> = {},
): Gateway {
  const config = readConfig({
    STORE_URL: 'memory:',
    ...env,
  });
  const log = testLogger();
  return recorded(
    createGateway({
      config,
      upstreamUrl,
      log,
      sandbox: true,
      pulseMs,
      limits,
      ...(pace === undefined ? {} : { pace }),
      ...(breaker === undefined ? {} : { breaker }),
    }),
  );
}

/** Sends one operation. */
export async function ask(
  gateway: Gateway,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    }),
  );
  return (await response.json()) as Answer;
}

/** Hashes that the sandbox's Atlas holds. */
export const KNOWN: readonly string[] = REFERENCE_PROTEINS.map(({ md5 }) => md5);

/** A hash that no Atlas holds. */
export const unknownHash = (i: number): string => createHash('md5').update(`none ${i}`).digest('hex');

/** Waits until something is so. @throws when it takes too long */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  // Sooner than the time limit of tests, so that it is told what did not come.
  for (const end = performance.now() + 100_000; !(await isSo()); await sleep(10))
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
}

/**
 * Waits until the polls that are counted end: one that was under way may still come. @param during
 * - milliseconds without one
 */
export const pollsEnded = (count: () => number, during: number): Promise<void> =>
  until('the polls to end', async () => {
    const before = count();
    await sleep(during);
    return count() === before;
  });

/**
 * The pause between calls in milliseconds, as one late call on a busy machine cannot shorten it:
 * the others stand for all of them.
 *
 * @param times - when they came, at least four
 */
export const usualPause = (times: readonly number[]): number =>
  ((times.at(-1) ?? 0) - (times[0] ?? 0)) / (times.length - 2);

/** Lets a held clock run `factor` times as fast as real time. */
export function run(clock: unknown, factor: number): { stop(): void } {
  if (!(clock instanceof ManualClock)) throw new Error('not a held clock');
  const timer = setInterval(() => clock.advance(20 * factor), 20);
  return { stop: () => clearInterval(timer) };
}

const LOOKUP =
  'id lookupId state requestedCount completedCount parts { jobId state requestedCount completedCount url problem }';

/** Starts a look-up. @returns what startBulkLookup answers */
export async function startLookup(
  gateway: Gateway,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const { data, errors } = await ask(
    gateway,
    `mutation($input: BulkLookupInput!) { startBulkLookup(input: $input) { __typename ... on BulkLookup { ${LOOKUP} } ... on Problem { message hint } ... on InvalidInput { issues { path code } } ... on Refused { reason retryable } } }`,
    { input },
    headers,
  );
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return at(data, 'startBulkLookup');
}

export async function readLookup(gateway: Gateway, id: unknown): Promise<unknown> {
  const { data, errors } = await ask(gateway, `query($id: ID!) { bulkLookup(lookupId: $id) { ${LOOKUP} } }`, {
    id,
  });
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return at(data, 'bulkLookup');
}

/** Waits until a look-up has ended. */
export async function endedLookup(gateway: Gateway, id: unknown): Promise<unknown> {
  let lookup: unknown;
  const open = new Set(['PENDING', 'CANCEL_REQUESTED', 'UNKNOWN']);
  await until('the look-up to end', async () => {
    lookup = await readLookup(gateway, id);
    return !open.has(String(at(lookup, 'state')));
  });
  return lookup;
}

/** Fetches what a URL of the gateway points to. */
export const get = (
  gateway: Gateway,
  url: unknown,
  headers: Record<string, string> = {},
): Promise<Response> => gateway.fetch(new Request(String(url), { headers }));

/** Asks the sandbox for a fault. */
export async function fault(sandboxUrl: string, rule: Record<string, unknown>): Promise<void> {
  const answer = await fetch(`${sandboxUrl}/control/faults`, { method: 'POST', body: JSON.stringify(rule) });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Ends the faults of a sandbox. */
export async function clearFaults(sandboxUrl: string): Promise<void> {
  await fetch(`${sandboxUrl}/control/faults`, { method: 'DELETE' });
}
