// Starts a sandbox with a small universe and a gateway in front of it, and records every upstream
// call.

import type { Clock } from '../sandbox/src/clock.ts';
import { type SandboxOptions, startSandbox } from '../sandbox/src/sandbox.ts';
import type { GatewayLimits } from '../src/config/limits.ts';
import { readConfig } from '../src/config.ts';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { recordCall, recorded, testLogger } from './record.ts';

/**
 * The dialect of the tests' sandboxes where a test does not say: `TEST_DIALECT=rich npx vitest
 * run ...`
 */
const DIALECT = process.env.TEST_DIALECT === 'rich' ? 'rich' : 'plain';

/** One upstream call as the sandbox saw it. */
export interface SeenCall {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Answer {
  readonly data: unknown;
  readonly errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
}

export interface World {
  readonly gateway: Gateway;
  readonly sandboxUrl: string;
  readonly clock: Clock;
  /** Calls since the last `forget`. */
  readonly calls: SeenCall[];
  /** Number of calls by operation. */
  counts(): Record<string, number>;
  forget(): void;
  query(
    query: string,
    variables?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * The value at a dotted path of an answer, such as `protein.features.0.value`; undefined if absent.
 */
export function at(value: unknown, path: string): unknown {
  let here = value;
  for (const step of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Reflect.get(here, step);
  }
  return here;
}

/** The list at a dotted path. @throws when there is none, so that no test passes over nothing */
export function listAt(value: unknown, path: string): unknown[] {
  const found = at(value, path);
  if (!Array.isArray(found)) throw new Error(`no list at ${path} of ${JSON.stringify(value)}`);
  return found;
}

/**
 * Starts a sandbox and a gateway over it; both live in this process.
 *
 * @param onLog - given each line that the gateway logs, as JSON, at every level
 */
export async function openWorld(
  env: Record<string, string> = {},
  options: SandboxOptions = {},
  onLog?: (line: string) => void,
  limits: Partial<GatewayLimits> = {},
): Promise<World> {
  const calls: SeenCall[] = [];
  const onRequest = (call: SeenCall) => {
    calls.push(call);
    recordCall(call);
    options.onRequest?.(call);
  };
  const sandbox = await startSandbox({ size: 'small', dialect: DIALECT, ...options, onRequest });
  const config = readConfig({
    STORE_URL: 'memory:',
    // A call that is answered late would be sent again, and be counted twice.
    UPSTREAM_TIMEOUT_FACTOR: '5',
    // Each query is counted by itself; what is kept between requests has tests of its own.
    CACHE_RECORDS_SECONDS: '0',
    ...env,
  });
  const gateway = recorded(
    createGateway({
      config,
      upstreamUrl: sandbox.url,
      log: testLogger(onLog),
      sandbox: true,
      limits,
    }),
  );
  return {
    gateway,
    sandboxUrl: sandbox.url,
    clock: sandbox.clock,
    calls,
    counts: () => {
      const counts: Record<string, number> = {};
      for (const { operation } of calls) counts[operation] = (counts[operation] ?? 0) + 1;
      return counts;
    },
    forget: () => {
      calls.length = 0;
    },
    async query(query, variables = {}, headers = {}) {
      const response = await gateway.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query, variables }),
        }),
      );
      return (await response.json()) as Answer;
    },
    async close() {
      await gateway.close();
      await sandbox.close();
    },
  };
}
