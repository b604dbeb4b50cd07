// The queue of webhooks: each notifies the address that came with a submission when its batch ends,
// at least once. One replica at a time works on a webhook, by a lease. After a restart it goes on
// with the gateway's own key, else with the caller's token from its next request.
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createPendingWork } from '../async/pending-work.ts';
import type { DocumentStore } from '../store/documents.ts';
import { createLease, type Lease } from '../store/lease.ts';
import { MAX_RETRY_AFTER_SECONDS } from '../upstream/errors.ts';
import { delayMs } from './poll-schedule.ts';
import { createWebhookStep, type DeliveryDependencies, type DeliveryTimes } from './webhook-delivery.ts';
import {
  ANONYMOUS,
  createWebhookStore,
  ownerPrefixes,
  type PendingWebhook,
  readPrincipal,
  type WebhookOwner,
} from './webhook-store.ts';

export interface WebhookTimes extends DeliveryTimes {
  /** Between a submission and the first poll. */
  readonly firstPollMs: number;
  /** Between two looks at the store for what another replica has left. */
  readonly sweepMs: number;
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
/** Each polls the service until its batch ends. */
export const MAX_PENDING_WEBHOOKS = 100;
/** Callers whose tokens may wait for the first sweep, or for a lease of another replica. */
const MAX_TOKENS = 10_000;

/** The work for a webhook in this replica. */
interface Run {
  readonly stopping: AbortController;
  readonly lease: Lease;
}

export interface WebhookDependencies extends DeliveryDependencies {
  readonly documents: DocumentStore;
  /** UPSTREAM_API_KEY, with which any replica may poll for any caller. */
  readonly gatewayKey: string | undefined;
  /** The names of a caller under former secrets. */
  readonly formerNames: (identity: string | null) => readonly string[];
  readonly times?: WebhookTimes;
  readonly onError: (error: unknown) => void;
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

export function createWebhooks({
  times = defaultWebhookTimes,
  ...dependencies
}: WebhookDependencies): Webhooks {
  const { documents, gatewayKey, formerNames, clock, onError } = dependencies;
  const store = createWebhookStore(documents, clock, onError);
  const step = createWebhookStep(dependencies, times);
  const work = createPendingWork();
  /** Webhooks of this replica, by their keys. */
  const running = new Map<string, Run>();
  /** Keys of others by their callers: another replica has the lease, or the token is missing. */
  const others = new Map<string, string[]>();
  /** The tokens of their callers, and of all callers that have come since the last sweep. */
  const tokens = new LRUCache<string, string>({ maxSize: MAX_TOKENS, sizeCalculation: () => 1 });
  /** Keys and places that this replica has given away, until they are done. */
  const taken = new Set<string>();
  let sweeping: Promise<void> | undefined;
  let isFirstSweepBegun = false;
  let isClosed = false;

  const longestWaitMs = ({ failedTries }: PendingWebhook): number => {
    const interval = times.retryMs[failedTries - 1];
    return interval === undefined
      ? delayMs(times.firstPollMs, 1)
      : delayMs(interval, 1, MAX_RETRY_AFTER_SECONDS);
  };

  /** Does what is left of a webhook, step by step, each when it is due. */
  async function deliver(key: string, token: string | undefined, signal: AbortSignal): Promise<void> {
    const options = { principal: readPrincipal(key), token, signal };
    let pending = await store.read(key);
    while (pending !== null) {
      // The clock of the replica that wrote the time may have been hours ahead.
      const waitMs = Math.min(longestWaitMs(pending), Math.max(0, pending.dueAt - clock.now()));
      await clock.sleep(waitMs, { signal, ref: false });
      pending = await step(pending, options);
      await store.update(key, pending, signal);
    }
  }

  /** Starts a webhook where no other replica has its lease. */
  async function start(key: string, token: string | undefined): Promise<void> {
    const run: Run = { stopping: new AbortController(), lease: createLease(documents, key, LEASE_MS, clock) };
    const { signal } = run.stopping;
    let isDone = false;
    try {
      if (running.has(key) || !(await run.lease.claim())) return;
      running.set(key, run);
      if (isClosed) return;
      await deliver(key, token, signal);
      isDone = true;
    } catch (error) {
      if (!signal.aborted) onError(error);
    } finally {
      // A sweep may be renewing this lease.
      await sweeping;
      // A later sweep needs the token: the lease may have been lost with the answer of the store.
      if (!isDone && token !== undefined) tokens.set(readPrincipal(key), token);
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
    const keys = new Set(await store.keys());
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
  }
  const sweepInBackground = (): void => {
    sweeping ??= work
      .run(sweep)
      .catch(onError)
      .finally(() => {
        sweeping = undefined;
      });
  };
  const stopSweeps = clock.every(times.sweepMs, sweepInBackground, { ref: false });

  async function add(key: string, { url, batchId, token }: WebhookOrder): Promise<void> {
    const dueAt = clock.now() + times.firstPollMs;
    await store.add(key, { id: `msg_${randomUUID()}`, batchId, url, body: null, failedTries: 0, dueAt });
    startInBackground(key, token);
  }

  return {
    async reserve(owner) {
      const prefixes = ownerPrefixes(owner);
      // A store that fails says so when the webhook is added.
      const stored = await Promise.all(prefixes.map((prefix) => store.keys(prefix).catch(() => [])));
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
      for (const prefix of ownerPrefixes(owner)) {
        const pending = await store.read(`${prefix}${batchId}`);
        if (pending !== null) return pending.url === url;
      }
      return false;
    },
    resume(principal, identity, token) {
      if (principal === null || token === undefined || gatewayKey !== undefined) return;
      if (!isFirstSweepBegun) sweepInBackground();
      isFirstSweepBegun = true;
      for (const name of [principal, ...formerNames(identity)]) {
        if (tokens.get(name) === token) continue;
        // Up to the next sweep also for a caller that has none here: another replica may just have
        // left one. The sweeps after it have it too, where another replica has the lease.
        tokens.set(name, token);
        for (const key of others.get(name) ?? []) startInBackground(key, token);
      }
    },
    async close() {
      isClosed = true;
      stopSweeps();
      for (const { stopping } of running.values()) stopping.abort();
      await work.ended();
    },
  };
}
