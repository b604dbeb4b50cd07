// Limits that fit every deployment, so that no setting changes them. Programs that embed the
// gateway and tests may.

import { CACHE_BYTES } from './cache-bytes.ts';

export interface GatewayLimits {
  /** Levels of a query. */
  readonly queryDepth: number;
  /** Fields and list members that an answer may contain, estimated before the query runs. */
  readonly answerValues: number;
  /** Bytes of an answer, counted while it is written. */
  readonly answerBytes: number;
  /** Reads that wait for their turn to be sent to the service; one more is refused. */
  readonly upstreamQueue: number;
  /** Wrong keys and tokens of an address in a minute; 0: any number. */
  readonly authFailuresPerMinute: number;
  /** How late the event loop may be on average over a second, twice in a row; 0: any. */
  readonly eventLoopDelayMs: number;
  /** Memory for finished responses of public data; 0: none are kept. */
  readonly responseCacheBytes: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  queryDepth: 12,
  answerValues: 2_000_000,
  answerBytes: 256 * 1024 * 1024,
  upstreamQueue: 1000,
  authFailuresPerMinute: 60,
  eventLoopDelayMs: 500,
  responseCacheBytes: CACHE_BYTES.responses,
};
