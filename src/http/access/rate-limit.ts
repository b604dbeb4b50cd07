// Requests per minute, by key. Replicas share the counts over Redis; while Redis does not answer,
// each process counts for itself.
import type { GraphQLError } from 'graphql';
import {
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  RLWrapperTimeouts,
} from 'rate-limiter-flexible';
import { openRedis } from '../../store/redis-connection.ts';
import type { RateLimitResult } from '../exchange.ts';
import { rateLimited } from '../failures/errors.ts';

export interface RateLimiter {
  /** Counts one request. */
  consume(key: string): Promise<RateLimitResult>;
}

export interface RateLimiters {
  /** @param name - of what is counted: the same key has a count of its own under each name */
  create(name: string, perMinute: number): RateLimiter;
  close(): Promise<void>;
}

const WINDOW_SECONDS = 60;
/** How long Redis may take before the process counts for itself. */
const REDIS_TIMEOUT_MS = 250;

/**
 * Opens the limiters.
 *
 * @param storeUrl - counts are in memory unless it is `redis://…` or `rediss://…`
 * @param onError - called once for each loss of the connection
 */
export function openRateLimiters(storeUrl: string, onError: (error: unknown) => void): RateLimiters {
  const redis = /^rediss?:/.test(storeUrl) ? openRedis(storeUrl, onError) : undefined;
  /** The one command that the limiter calls, over the gateway's own connection. */
  const storeClient = {
    eval: (script: string, input: { keys: string[]; arguments: string[] }) =>
      redis?.run(script, input.keys, input.arguments),
  };

  function createLimiter(name: string, perMinute: number): RateLimiterMemory | RLWrapperTimeouts {
    const quota = {
      keyPrefix: `foldatlas:rate:2:${name}`,
      points: perMinute,
      duration: WINDOW_SECONDS,
    };
    const memory = new RateLimiterMemory(quota);
    if (redis === undefined) return memory;
    // Redis is not asked again for a key that has used up its quota.
    const shared = { storeClient, useRedisPackage: true, inMemoryBlockOnConsumed: perMinute };
    return new RLWrapperTimeouts({
      limiter: new RateLimiterRedis({ ...quota, ...shared }),
      timeoutMs: REDIS_TIMEOUT_MS,
      insuranceLimiter: memory,
    });
  }

  return {
    create(name, perMinute) {
      const limiter = createLimiter(name, perMinute);
      return {
        consume: (key) =>
          limiter.consume(key).then(
            (counted) => toResult(counted, perMinute, true),
            (refused: unknown) => {
              if (refused instanceof RateLimiterRes) return toResult(refused, perMinute, false);
              throw refused;
            },
          ),
      };
    },
    close: async () => redis?.close(),
  };
}

/** The window is at most a minute, also where the clock of the machine was set back. */
function toResult(
  { msBeforeNext, remainingPoints }: RateLimiterRes,
  limit: number,
  isAllowed: boolean,
): RateLimitResult {
  const seconds = Math.ceil(msBeforeNext / 1000);
  return {
    isAllowed,
    limit,
    remaining: isAllowed ? remainingPoints : 0,
    resetSeconds: Math.min(Math.max(seconds, 1), WINDOW_SECONDS),
  };
}

export const rateLimitError = ({ limit, resetSeconds }: RateLimitResult): GraphQLError =>
  rateLimited(
    `You have made more than ${limit} requests in a minute (RATE_LIMIT_PER_MINUTE). ` +
      `Try again in ${resetSeconds} s.`,
    resetSeconds,
  );
