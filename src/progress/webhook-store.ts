// The webhooks that are not done yet, in the document store: by caller and batch, without a token.
import type { Clock } from '../async/clock.ts';
import type { DocumentStore } from '../store/documents.ts';

/** The stored record of a webhook. */
export interface PendingWebhook {
  readonly id: string;
  readonly batchId: string;
  readonly url: string;
  /** The body to send; null until the batch has ended. */
  readonly body: string | null;
  readonly failedTries: number;
  /** When the next try is due. Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** A caller as webhooks know it. */
export interface WebhookOwner {
  readonly principal: string | null;
  /** The names of the principal under former secrets, whose webhooks stay under these. */
  readonly formerNames: readonly string[];
}

/** Lifetime after the submission, and after each try. Results are gone by then. */
const RETENTION_MS = 31 * 24 * 3_600_000;
/** Between two tries to write to a store that fails. */
const WRITE_PAUSE_MS = 5_000;

const PREFIX = 'webhook/1/';
/** Callers without a token are one caller for the service too. */
export const ANONYMOUS = 'anonymous';

/** The beginnings of the keys of a caller; new webhooks get the first. */
export const ownerPrefixes = ({ principal, formerNames }: WebhookOwner): [string, ...string[]] => [
  `${PREFIX}${principal ?? ANONYMOUS}/`,
  ...formerNames.map((name) => `${PREFIX}${name}/`),
];

/** The name of the caller in a key; `ANONYMOUS` without a token. */
export const readPrincipal = (key: string): string => key.split('/')[2] ?? ANONYMOUS;

export interface WebhookStore {
  /** Null where the webhook is done. */
  read(key: string): Promise<PendingWebhook | null>;
  add(key: string, pending: PendingWebhook): Promise<void>;
  /**
   * Writes what is left of a webhook, null when it is done, however long the store takes: nothing
   * is sent again for it.
   */
  update(key: string, left: PendingWebhook | null, signal: AbortSignal): Promise<void>;
  /** Keys that begin with a text; all without one. */
  keys(prefix?: string): Promise<string[]>;
}

export function createWebhookStore(
  documents: DocumentStore,
  { sleep }: Clock,
  onError: (error: unknown) => void,
): WebhookStore {
  async function put(key: string, pending: PendingWebhook | null): Promise<void> {
    const lifetimeMs = pending === null ? 0 : RETENTION_MS;
    const text = pending === null ? '' : JSON.stringify(pending);
    // It is promised: it outlives a power cut and a failover.
    await documents.put(key, text, { lifetimeMs, isListed: true, isDurable: true });
  }
  return {
    async read(key) {
      const stored = await documents.get(key);
      return stored === null || stored === 'same' ? null : (JSON.parse(stored.text) as PendingWebhook);
    },
    add: put,
    async update(key, left, signal) {
      for (;;) {
        try {
          await put(key, left);
          return;
        } catch (error) {
          onError(error);
          await sleep(WRITE_PAUSE_MS, { signal, ref: false });
        }
      }
    },
    keys: (prefix = PREFIX) => documents.keys(prefix),
  };
}
