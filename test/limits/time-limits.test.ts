// The time limits between caller, proxy, gateway and service: each waits longer than the one behind
// it, so that the answer to a slow Submit reaches its caller.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { timeLimits } from '../../src/http/server/time-limits.ts';
import { operationLimits } from '../../src/upstream/operations.ts';

const readLimits = (env: Record<string, string>) => {
  const config = readConfig(env);
  const submit = operationLimits('submit', config.UPSTREAM_TIMEOUT_FACTOR);
  return { submit, limits: timeLimits(config) };
};

describe('the time limits', () => {
  it('let every Submit that is sent end before the connection, and the connection before the proxy', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 3_600_000 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (requestMs, factor) => {
          const { submit, limits } = readLimits({
            REQUEST_TIMEOUT_MS: String(requestMs),
            UPSTREAM_TIMEOUT_FACTOR: String(factor),
          });
          expect(submit.start).toBeLessThan(submit.whole);
          expect(limits.request).toBe(requestMs);
          expect(limits.request).toBeLessThan(limits.silence);
          expect(limits.request + submit.whole).toBeLessThan(limits.answer);
          expect(limits.silence).toBeLessThan(limits.answer);
          expect(limits.answer).toBeLessThan(limits.proxy);
        },
      ),
    );
  });

  it('are those that the operator is told to give the proxy, and that the shipped proxy and the Python client have', () => {
    const { limits } = readLimits({});
    const guide = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8');
    expect(guide).toContain(`proxy_read_timeout ${limits.proxy / 1000}s`);
    const proxy = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(proxy)?.[1]);
    expect(seconds * 1000).toBeGreaterThanOrEqual(limits.proxy);
    const transport = new URL('../../clients/python/src/foldatlas/transport.py', import.meta.url);
    expect(readFileSync(transport, 'utf8')).toContain(`TIMEOUT_SECONDS = ${limits.proxy / 1000}.0`);
  });
});
