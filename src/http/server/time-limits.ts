// The time limits between a caller and the service, each of which follows from the one before: a
// connection is open for longer than any answer takes, and a proxy waits for longer than both.
import type { Config } from '../../config.ts';
import { operationLimits } from '../../upstream/operations.ts';

/** Milliseconds, from the shortest to the longest. */
export interface TimeLimits {
  /** After this a request starts no call of the service any more. */
  readonly request: number;
  /** How long nothing may be sent or taken over a connection while it has an answer to send. */
  readonly silence: number;
  /** How long an answer may take to begin: a Submit that is sent last is awaited and recorded. */
  readonly answer: number;
  /** How long a proxy in front waits for an answer to begin. */
  readonly proxy: number;
}

/** How much longer than a request a connection may be silent, and a proxy than the gateway. */
const MARGIN_MS = 30_000;

/** @returns the limits of a gateway with these settings */
export function timeLimits({
  REQUEST_TIMEOUT_MS,
  UPSTREAM_TIMEOUT_FACTOR,
}: Pick<Config, 'REQUEST_TIMEOUT_MS' | 'UPSTREAM_TIMEOUT_FACTOR'>): TimeLimits {
  const silence = REQUEST_TIMEOUT_MS + MARGIN_MS;
  const answer = silence + operationLimits('submit', UPSTREAM_TIMEOUT_FACTOR).whole;
  return { request: REQUEST_TIMEOUT_MS, silence, answer, proxy: answer + MARGIN_MS };
}
