// What a gateway is made of besides its configuration.
import type { Config } from '../config.ts';
import type { PollScheduleOptions } from '../progress/snapshot.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { BreakerRules } from '../upstream/http/backoff.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** {base_url} of the service, without a final slash. */
  readonly upstreamUrl: string;
  readonly log: Logger;
  /**
   * The key of `openPrincipalKey`, which hashes tokens into the names of callers. When absent, the
   * secret itself: enough for a store that no other gateway uses.
   */
  readonly principalKey?: string;
  /**
   * Whether the upstream is the embedded sandbox. Over any sandbox every answer has the header
   * `x-sandbox`.
   */
  readonly sandbox?: boolean;
  /** Records traces; the caller that created it closes it. */
  readonly tracing?: Tracing | undefined;
  /** Where /metrics come from when not from this gateway alone. */
  readonly metricsText?: () => Promise<string>;
  /** How often watched batches are polled; 2 to 30 seconds when absent. */
  readonly pace?: PollScheduleOptions;
  /** When the upstream counts as failing, and for how long it is then left alone. */
  readonly breaker?: BreakerRules;
  /** Milliseconds between two signs of life in a silent event stream; 12,000 when absent. */
  readonly pulseMs?: number;
}
