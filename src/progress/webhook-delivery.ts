// One step of a webhook at a time: polls until its batch has ended, then tries to send, until the
// receiver accepts or no try is left.
import type { Clock } from '../async/clock.ts';
import type { WebhookReport } from '../telemetry/telemetry.ts';
import { readCounts, toBatchStatus } from '../upstream/folds/batch-states.ts';
import type { Upstream } from '../upstream/http/call.ts';
import type { BatchPage } from '../upstream/wire.ts';
import { parseTime } from '../upstream/wire-values.ts';
import { delayMs } from './poll-schedule.ts';
import type { ProgressHub } from './progress-hub.ts';
import { sendWebhook } from './webhook-request.ts';
import { ANONYMOUS, type PendingWebhook } from './webhook-store.ts';
import { findUrlFault } from './webhook-url.ts';

export interface DeliveryTimes {
  /** How long a receiver may take to answer. */
  readonly timeoutMs: number;
  /** Before each further try. */
  readonly retryMs: readonly number[];
}

export interface DeliveryDependencies {
  readonly live: ProgressHub;
  /** Opens the service for work without a request. */
  readonly openUpstream: (token: string | undefined, principal: string) => Upstream;
  /** WEBHOOK_HOSTS; there is at least one. */
  readonly hosts: readonly string[];
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly onReport: (report: WebhookReport) => void;
}

/** For whom a step is done, and until when. */
export interface StepOptions {
  /** The caller's name in the store. */
  readonly principal: string;
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Does the step that is due.
 *
 * @returns what is left to do; null when the webhook is delivered, or never will be
 * @throws the reason of the signal when it aborts
 */
export type WebhookStep = (pending: PendingWebhook, options: StepOptions) => Promise<PendingWebhook | null>;

const toIsoTime = (text: string | null | undefined): string | null => parseTime(text)?.toISOString() ?? null;

function webhookBody(batchId: string, page: BatchPage, at: number): string {
  const data = {
    batchId,
    status: toBatchStatus(page),
    counts: readCounts(page.counts),
    resultsExpireAt: toIsoTime(page.results_expire_at),
  };
  return JSON.stringify({ type: 'batch.ended', timestamp: new Date(at).toISOString(), data });
}

export function createWebhookStep(
  { live, openUpstream, hosts, secrets, clock, onReport }: DeliveryDependencies,
  { timeoutMs, retryMs }: DeliveryTimes,
): WebhookStep {
  /** @returns what is left to do; null when that was the last try */
  function retryLater(
    pending: PendingWebhook,
    reason: string,
    isFinal = false,
    retryAfterSeconds?: number,
  ): PendingWebhook | null {
    const { id, url, failedTries } = pending;
    const interval = isFinal ? undefined : retryMs[failedTries];
    const outcome = interval === undefined ? 'failed' : 'retried';
    onReport({ outcome, webhookId: id, host: new URL(url).host, reason });
    if (interval === undefined) return null;
    const dueAt = clock.now() + delayMs(interval, clock.random(), retryAfterSeconds);
    return { ...pending, failedTries: failedTries + 1, dueAt };
  }

  /** @returns the batch when it has ended; null when it cannot be read */
  async function awaitEnd(
    batchId: string,
    { principal, token, signal }: StepOptions,
  ): Promise<BatchPage | null> {
    const upstream = openUpstream(token, principal);
    const owned = principal === ANONYMOUS ? null : principal;
    for await (const event of live.watch(owned, batchId, { upstream, signal, hasTasks: false }))
      if (event.kind === 'progress' && event.final) return event.page;
    signal.throwIfAborted();
    return null;
  }

  async function trySending(
    pending: PendingWebhook,
    body: string,
    { principal, signal }: StepOptions,
  ): Promise<PendingWebhook | null> {
    const { id, url } = pending;
    // WEBHOOK_HOSTS may be shorter since the submission.
    const fault = findUrlFault(url, hosts);
    if (fault !== null) return retryLater(pending, `the address ${fault}`, true);
    const { connections } = openUpstream(undefined, principal);
    const outcome = await sendWebhook({ id, url, body }, { connections, secrets, timeoutMs, signal, clock });
    if (outcome.kind === 'failed')
      return retryLater(pending, outcome.reason, outcome.isFinal, outcome.retryAfterSeconds);
    onReport({ outcome: 'delivered', webhookId: id, host: new URL(url).host });
    return null;
  }

  return async (pending, options) => {
    const { batchId, body } = pending;
    if (body !== null) return trySending(pending, body, options);
    const page = await awaitEnd(batchId, options);
    if (page === null) return retryLater(pending, 'the batch cannot be read');
    const at = clock.now();
    return { ...pending, body: webhookBody(batchId, page, at), failedTries: 0, dueAt: at };
  };
}
