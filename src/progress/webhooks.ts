// Notifies the address that came with a submission when its batch ends, at least once. What is to
// be sent is stored, without a token: after a restart it goes on with the gateway's own key, else
// with the caller's token from its next request.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createPendingWork } from '../async/pending-work.ts';
import type { DocumentStore } from '../store/documents.ts';
import { createLease, type Lease } from '../store/lease.ts';
import type { WebhookReport } from '../telemetry/telemetry.ts';
import { readCounts, toBatchStatus } from '../upstream/folds/batch-states.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import type { BatchPage } from '../upstream/wire.ts';
import { parseTime } from '../upstream/wire-values.ts';
import { delayMs } from './poll-schedule.ts';
import type { ProgressHub } from './progress-hub.ts';
import { sendWebhook } from './webhook-request.ts';
import { findUrlFault } from './webhook-url.ts';

export interface WebhookTimes {
  /** Between a submission and the first poll. */
  readonly firstPollMs: number;
  /** Between two looks at the store for what another replica has left. */
  readonly sweepMs: number;
  /** How long a receiver may take to answer. */
  readonly timeoutMs: number;
  /** Before each further try. */
  readonly retryMs: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The back-off that Standard Webhooks suggests, for 18 hours. */
const defaultWebhookTimes: WebhookTimes = {
  firstPollMs: 2_000,
  sweepMs: 20_000,
  timeoutMs: 15_000,
  retryMs: [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS],
};

/** A replica that does not renew its lease for longer has ended. */
const LEASE_MS = 60_000;
/** Lifetime after the submission, and after each try. Results are gone by then. */
const RETENTION_MS = 31 * 24 * HOUR_MS;
/** Each polls the service until its batch ends. */
export const MAX_PENDING_WEBHOOKS = 100;
/** Callers whose tokens may wait for the first sweep, or for a lease of another replica. */
const MAX_TOKENS = 10_000;
/** Between two tries to write to a store that fails. */
const WRITE_PAUSE_MS = 5_000;

const PREFIX = 'webhook/1/';
/** Callers without a token are one caller for the service too. */
const ANONYMOUS = 'anonymous';

/** What is stored of a webhook. */
interface PendingWebhook {
  readonly id: string;
  readonly batchId: string;
  readonly url: string;
  /** What to send; null while the batch has not ended. */
  readonly body: string | null;
  readonly failedTries: number;
  /** When the next try is due. Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** The work for a webhook in this replica. */
interface Run {
  readonly stopping: AbortController;
  readonly lease: Lease;
}

export interface WebhookDependencies {
  readonly documents: DocumentStore;
  readonly live: ProgressHub;
  /** Opens the service for work without a request. */
  readonly openUpstream: (token: string | undefined, principal: string) => Upstream;
  /** UPSTREAM_API_KEY, with which any replica may poll for any caller. */
  readonly gatewayKey: string | undefined;
  /** The names of a caller under former secrets. */
  readonly formerNames: (identity: string | null) => readonly string[];
  /** WEBHOOK_HOSTS; webhooks are off without any. */
  readonly hosts: readonly string[];
  readonly secrets: readonly string[];
  readonly times?: WebhookTimes;
  readonly onReport: (report: WebhookReport) => void;
  readonly onError: (error: unknown) => void;
}

/** A caller as webhooks know it. */
export interface WebhookOwner {
  readonly principal: string | null;
  /** The names of the principal under former secrets, whose webhooks stay under these. */
  readonly formerNames: readonly string[];
}

export interface WebhookOrder {
  readonly url: string;
  readonly batchId: string;
  /** The caller's token; kept in memory until the webhook is done, and never stored. */
  readonly token: string | undefined;
}

/** A place among the pending webhooks of a caller. */
export interface WebhookPlace {
  /** Stores where to notify when a batch ends. @throws what the store failed with */
  add(order: WebhookOrder): Promise<void>;
  /** Gives the place back, unless a webhook was added. */
  release(): void;
}

export interface Webhooks {
  /**
   * Takes a place for another webhook, as exactly as one process can: other replicas count theirs
   * when they are stored.
   *
   * @returns null where the caller has as many as it may have
   */
  reserve(owner: WebhookOwner): Promise<WebhookPlace | null>;
  /** Whether a webhook is pending for a batch at this address. */
  isPending(owner: WebhookOwner, batchId: string, url: string): Promise<boolean>;
  /**
   * Goes on with the webhooks of a caller that wait for its token, now or when another replica
   * gives them up.
   */
  resume(principal: string | null, identity: string | null, token: string | undefined): void;
  /** Stops polling and sending; what is pending stays stored. */
  close(): Promise<void>;
}

const toIsoTime = (text: string | null | undefined): string | null => parseTime(text)?.toISOString() ?? null;

function webhookBody(batchId: string, page: BatchPage): string {
  const data = {
    batchId,
    status: toBatchStatus(page),
    counts: readCounts(page.counts),
    resultsExpireAt: toIsoTime(page.results_expire_at),
  };
  return JSON.stringify({ type: 'batch.ended', timestamp: new Date().toISOString(), data });
}

const readPrincipal = (key: string): string => key.split('/')[2] ?? ANONYMOUS;

export function createWebhooks({
  times = defaultWebhookTimes,
  ...dependencies
}: WebhookDependencies): Webhooks {
  const { documents, live, openUpstream, gatewayKey, hosts, secrets, onReport, onError } = dependencies;
  const { formerNames } = dependencies;
  const work = createPendingWork();
  /** Webhooks of this replica, by their keys. */
  const running = new Map<string, Run>();
  /** Keys of others by their callers: another replica has the lease, or the token is missing. */
  const others = new Map<string, string[]>();
  /** The tokens of their callers that have come since; before the first sweep, of all callers. */
  const tokens = new LRUCache<string, string>({ max: MAX_TOKENS });
  /** Keys and places that this replica has given away, until they are done. */
  const taken = new Set<string>();
  let sweeping: Promise<void> | undefined;
  let isFirstSweepBegun = false;
  let hasSwept = false;
  let isClosed = false;

  /** Writes the rest of a webhook, however long the store takes: nothing is sent again for it. */
  async function write(key: string, pending: PendingWebhook | null, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        const options = { lifetimeMs: pending === null ? 0 : RETENTION_MS, isListed: true };
        await documents.put(key, pending === null ? '' : JSON.stringify(pending), options);
        return;
      } catch (error) {
        onError(error);
        await sleep(WRITE_PAUSE_MS, undefined, { signal, ref: false });
      }
    }
  }

  /** @returns the batch when it has ended; null when it cannot be read */
  async function awaitEnd(
    { batchId }: PendingWebhook,
    principal: string,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<BatchPage | null> {
    const upstream = openUpstream(token, principal);
    const owned = principal === ANONYMOUS ? null : principal;
    for await (const event of live.watch(owned, batchId, { upstream, signal, hasTasks: false }))
      if (event.kind === 'progress' && event.final) return event.page;
    signal.throwIfAborted();
    return null;
  }

  /** @returns what is left to do; null when that was the last try */
  function retryLater(
    pending: PendingWebhook,
    reason: string,
    isFinal = false,
    retryAfterSeconds?: number,
  ): PendingWebhook | null {
    const { id, url, failedTries } = pending;
    const interval = isFinal ? undefined : times.retryMs[failedTries];
    const outcome = interval === undefined ? 'failed' : 'retried';
    onReport({ outcome, webhookId: id, host: new URL(url).host, reason });
    if (interval === undefined) return null;
    const dueAt = Date.now() + delayMs(interval, Math.random(), retryAfterSeconds);
    return { ...pending, failedTries: failedTries + 1, dueAt };
  }

  /** @returns what is left to do; null when it is delivered, or never will be */
  async function trySending(
    pending: PendingWebhook,
    body: string,
    principal: string,
    signal: AbortSignal,
  ): Promise<PendingWebhook | null> {
    const { id, url } = pending;
    // WEBHOOK_HOSTS may be shorter since the submission.
    const fault = findUrlFault(url, hosts);
    if (fault !== null) return retryLater(pending, `the address ${fault}`, true);
    const { connections } = openUpstream(undefined, principal);
    const { timeoutMs } = times;
    const outcome = await sendWebhook({ id, url, body }, { connections, secrets, timeoutMs, signal });
    if (outcome.kind === 'failed')
      return retryLater(pending, outcome.reason, outcome.isFinal, outcome.retryAfterSeconds);
    onReport({ outcome: 'delivered', webhookId: id, host: new URL(url).host });
    return null;
  }

  /** Polls until the batch ends, then sends until the receiver accepts. */
  async function deliver(key: string, token: string | undefined, signal: AbortSignal): Promise<void> {
    const principal = readPrincipal(key);
    const stored = await documents.get(key);
    let pending = stored === null || stored === 'same' ? null : (JSON.parse(stored.text) as PendingWebhook);
    while (pending !== null) {
      await sleep(Math.max(0, pending.dueAt - Date.now()), undefined, { signal, ref: false });
      const { body } = pending;
      if (body === null) {
        const page: BatchPage | null = await awaitEnd(pending, principal, token, signal);
        pending =
          page === null
            ? retryLater(pending, 'the batch cannot be read')
            : { ...pending, body: webhookBody(pending.batchId, page), failedTries: 0, dueAt: Date.now() };
      } else pending = await trySending(pending, body, principal, signal);
      await write(key, pending, signal);
    }
  }

  /** Starts a webhook where no other replica has its lease. */
  async function start(key: string, token: string | undefined): Promise<void> {
    const run: Run = { stopping: new AbortController(), lease: createLease(documents, key, LEASE_MS) };
    const { signal } = run.stopping;
    try {
      if (running.has(key) || !(await run.lease.claim())) return;
      running.set(key, run);
      if (!isClosed) await deliver(key, token, signal);
    } catch (error) {
      if (!signal.aborted) onError(error);
    } finally {
      // A sweep may be renewing this lease.
      await sweeping;
      await run.lease.release().catch(onError);
      if (running.get(key) === run) running.delete(key);
      if (!running.has(key)) taken.delete(key);
    }
  }
  const startInBackground = (key: string, token: string | undefined): void =>
    void work.run(() => start(key, token));

  /** Renews leases, and takes over what another replica or an earlier process has left. */
  async function sweep(): Promise<void> {
    const mine = [...running];
    const keys = new Set(await documents.keys(PREFIX));
    for (const [key, run] of mine) {
      if (run.stopping.signal.aborted) continue;
      if (!keys.has(key) || !(await run.lease.claim())) run.stopping.abort();
    }
    others.clear();
    for (const key of keys) {
      if (running.has(key)) continue;
      const principal = readPrincipal(key);
      others.set(principal, [...(others.get(principal) ?? []), key]);
      const token = gatewayKey ?? tokens.get(principal);
      if (token !== undefined || principal === ANONYMOUS) startInBackground(key, token);
    }
    for (const principal of tokens.keys()) if (!others.has(principal)) tokens.delete(principal);
    hasSwept = true;
  }
  const sweepInBackground = (): void => {
    sweeping ??= work
      .run(sweep)
      .catch(onError)
      .finally(() => {
        sweeping = undefined;
      });
  };
  const timer = hosts.length === 0 ? undefined : setInterval(sweepInBackground, times.sweepMs).unref();

  const prefixesOf = ({ principal, formerNames: former }: WebhookOwner): string[] =>
    [principal ?? ANONYMOUS, ...former].map((name) => `${PREFIX}${name}/`);

  async function add(key: string, { url, batchId, token }: WebhookOrder): Promise<void> {
    const pending: PendingWebhook = {
      id: `msg_${randomUUID()}`,
      batchId,
      url,
      body: null,
      failedTries: 0,
      dueAt: Date.now() + times.firstPollMs,
    };
    await documents.put(key, JSON.stringify(pending), { lifetimeMs: RETENTION_MS, isListed: true });
    startInBackground(key, token);
  }

  return {
    async reserve(owner) {
      const prefixes = prefixesOf(owner);
      // A store that fails says so when the webhook is added.
      const stored = await Promise.all(prefixes.map((prefix) => documents.keys(prefix).catch(() => [])));
      const own = [...taken].filter((key) => prefixes.some((prefix) => key.startsWith(prefix)));
      if (new Set([...stored.flat(), ...own]).size >= MAX_PENDING_WEBHOOKS) return null;
      const place = `${prefixes[0]} ${randomUUID()}`;
      taken.add(place);
      return {
        async add(order) {
          const key = `${prefixes[0]}${order.batchId}`;
          taken.delete(place);
          taken.add(key);
          await add(key, order).catch((error: unknown) => {
            taken.delete(key);
            throw error;
          });
        },
        release: () => void taken.delete(place),
      };
    },
    async isPending(owner, batchId, url) {
      for (const prefix of prefixesOf(owner)) {
        const stored = await documents.get(`${prefix}${batchId}`);
        if (stored !== null && stored !== 'same')
          return (JSON.parse(stored.text) as PendingWebhook).url === url;
      }
      return false;
    },
    resume(principal, identity, token) {
      if (principal === null || token === undefined || gatewayKey !== undefined || hosts.length === 0) return;
      if (!isFirstSweepBegun) sweepInBackground();
      isFirstSweepBegun = true;
      if (hasSwept && others.size === 0) return;
      for (const name of [principal, ...formerNames(identity)]) {
        const keys = others.get(name) ?? [];
        if ((hasSwept && keys.length === 0) || tokens.get(name) === token) continue;
        // The next sweeps have it too, where another replica has the lease now.
        tokens.set(name, token);
        for (const key of keys) startInBackground(key, token);
      }
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      for (const { stopping } of running.values()) stopping.abort();
      await work.ended();
    },
  };
}
