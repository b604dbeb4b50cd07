// The mark that a ledger is given when it is founded. By it, and by the newest time ever written, a
// gateway notices that the ledger has lost what it knew, or was written with another
// GATEWAY_SECRET: in both cases an idempotency key that was paid before would be paid again.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { UnusableStoreError } from '../unusable-store.ts';
import { formerSecret, type LedgerSecrets, principalName } from './principals.ts';

/** The ledger was written with a secret that this gateway does not have. */
export class WrongSecretError extends UnusableStoreError {}

/** The ledger has lost what it knew. */
export class LostLedgerError extends UnusableStoreError {}

/** The mark as it is stored. */
export interface StoredMark {
  /** The mark; null where no ledger was founded yet. */
  readonly text: string | null;
  /**
   * The newest time at which something was written; 0 where nothing was. Milliseconds since the
   * epoch.
   */
  readonly newest: number;
  /** The time by the ledger's clock. */
  readonly now: number;
}

/** Where a ledger keeps its mark. */
export interface MarkStore {
  readMark(): Promise<StoredMark>;
  /**
   * Replaces the mark if it equals `expected`, atomically.
   *
   * @param resets - whether the newest time becomes the present
   * @returns whether it did
   */
  replaceMark(expected: string | null, next: string, resets: boolean): Promise<boolean>;
}

const LOSSES = {
  EMPTY: 'The ledger is empty, and was not before.',
  OTHER: 'The ledger is another one than before.',
  OLDER: 'The ledger is older than it was: what was written last is missing.',
  CLOCK:
    'The newest entry of the ledger is more than a day ahead of its clock. If the clock is wrong, set it; ' +
    'if it was ahead for a time, entries may have been deleted too early.',
} as const;

/** Instructions for the operator after a loss. */
const REMEDY =
  'Submissions with an idempotency key are refused, because one that was paid before would be paid again; ' +
  'those without one are sent where callers bring their own keys of the service. ' +
  'Restore the ledger, or accept the loss with `foldatlas accept-ledger` (docs/operators.md, A lost ledger).';

const lostError = (loss: keyof typeof LOSSES): LostLedgerError =>
  new LostLedgerError(`${LOSSES[loss]} ${REMEDY}`);

/**
 * Thrown where the file of a ledger was removed or replaced: its gateway still has the one of
 * before.
 */
export const replacedFileError = (): LostLedgerError =>
  new LostLedgerError(`The file of the ledger was removed or replaced. ${REMEDY} Then restart the gateway.`);

const markText = z.object({
  id: z.string(),
  /** Keyed hash of the secret. */
  secret: z.string(),
  /** The marks that an operator gave up for this one. */
  replaces: z.array(z.string()),
  /** Set by a gateway that knew another mark. */
  lost: z.object({ id: z.string(), loss: z.enum(['EMPTY', 'OTHER', 'OLDER']) }).optional(),
});

type Mark = Readonly<z.output<typeof markText>>;

const readText = (text: string): Mark => markText.parse(JSON.parse(text));

/** No token has a space in it. */
const fingerprint = (secret: string): string => principalName(secret, 'fingerprint of the secret');

/** How far the newest entry may be ahead of the clock. */
export const MAX_AHEAD_MS = 24 * 3_600_000;
/**
 * A server that writes its log every second may lose this much. Its submissions are still on their
 * way then, and are written down whole when they end.
 */
const MAX_BEHIND_MS = 2_000;
/** Each try after the first follows another gateway that wrote at the same moment. */
const TRIES = 5;

/** The mark under which a key may be claimed. */
export interface ExpectedMark {
  readonly text: string;
  /** The newest time is at least this. Milliseconds since the epoch. */
  readonly leastNewest: number;
}

/** The mark of a ledger as a gateway knows it. */
export interface MarkCheck {
  readonly expected: ExpectedMark;
  readonly isLost: boolean;
  /** Adds the time of a write. */
  addWrite(at: number): void;
  /**
   * Compares the mark with what is known of it, and founds a ledger that has none. With the
   * previous secret in its mark, the ledger is the current one's from then on.
   *
   * @throws WrongSecretError, LostLedgerError, or Error when the store does not answer
   */
  check(store: MarkStore): Promise<void>;
  /** Accepts the ledger as it is. @returns false when nothing was wrong with it */
  accept(store: MarkStore): Promise<boolean>;
}

export function createMarkCheck(secrets: LedgerSecrets): MarkCheck {
  const own = fingerprint(secrets.current);
  const former = formerSecret(secrets);
  const accepted = former === undefined ? [own] : [own, fingerprint(former)];
  let known: Mark | undefined;
  let text = '';
  let newestSeen = 0;
  let isLost = false;

  function findLoss(mark: Mark | null, newest: number, seen: number): NonNullable<Mark['lost']> | undefined {
    if (mark?.lost !== undefined || known === undefined) return mark?.lost;
    const { id } = known;
    if (mark === null) return { id, loss: 'EMPTY' };
    if (mark.replaces.includes(id)) return undefined;
    if (mark.id !== id) return { id, loss: 'OTHER' };
    return newest < seen - MAX_BEHIND_MS ? { id, loss: 'OLDER' } : undefined;
  }

  /** The mark that the ledger should have. @throws WrongSecretError */
  function review(mark: Mark | null, newest: number, seen: number): Mark {
    const lost = findLoss(mark, newest, seen);
    if (mark === null) return { id: randomUUID(), secret: own, replaces: [], lost };
    if (!accepted.includes(mark.secret))
      throw new WrongSecretError('This ledger was written with another secret.');
    return { ...mark, secret: own, lost };
  }

  async function checkOnce(store: MarkStore): Promise<boolean> {
    // A write during the read is newer than the mark that is read.
    const seen = newestSeen;
    const stored = await store.readMark();
    const mark = stored.text === null ? null : readText(stored.text);
    const next = review(mark, stored.newest, seen);
    const nextText = JSON.stringify(next);
    if (nextText !== stored.text && !(await store.replaceMark(stored.text, nextText, false))) return false;
    if (next.lost !== undefined) throw lostError(next.lost.loss);
    if (stored.newest > stored.now + MAX_AHEAD_MS) throw lostError('CLOCK');
    newestSeen = known?.id === next.id ? Math.max(newestSeen, stored.newest) : stored.newest;
    known = next;
    text = nextText;
    return true;
  }

  async function check(store: MarkStore): Promise<void> {
    try {
      for (let tries = 0; !(await checkOnce(store)); tries += 1)
        if (tries === TRIES) throw new Error('The mark of the ledger is written again and again.');
      isLost = false;
    } catch (error) {
      if (error instanceof LostLedgerError) isLost = true;
      throw error;
    }
  }

  async function accept(store: MarkStore): Promise<boolean> {
    try {
      await check(store);
      return false;
    } catch (error) {
      if (!(error instanceof LostLedgerError || error instanceof WrongSecretError)) throw error;
    }
    const stored = await store.readMark();
    const mark = stored.text === null ? null : readText(stored.text);
    const next: Mark = {
      id: randomUUID(),
      secret: own,
      replaces: mark === null ? [] : [mark.id, ...(mark.lost === undefined ? [] : [mark.lost.id])],
    };
    if (!(await store.replaceMark(stored.text, JSON.stringify(next), true)))
      throw new Error('A gateway changed the ledger at the same moment. Try again.');
    return true;
  }

  return {
    get expected() {
      return { text, leastNewest: newestSeen - MAX_BEHIND_MS };
    },
    get isLost() {
      return isLost;
    },
    addWrite(at) {
      newestSeen = Math.max(newestSeen, at);
    },
    check,
    accept,
  };
}
