// The mark that a ledger is given when it is founded. By it, and by a number that grows with every
// write, a gateway notices that the ledger has lost what it knew, or was written with a secret that
// it does not have: in both cases an idempotency key that was paid before would be paid again.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { LostLedgerError, UnusableStoreError } from '../unusable-store.ts';
import { RETENTION_MS } from './ledger.ts';
import { formerSecrets, type LedgerSecrets, principalName } from './principals.ts';

/** The ledger was written with a secret that this gateway does not have. */
export class WrongSecretError extends UnusableStoreError {}

/** The record beside a ledger that reveals a new or an older ledger in its place. */
export interface Witness {
  /** The id of the mark. */
  readonly id: string;
  readonly newest: number;
}

/** The mark as it is stored. */
export interface StoredMark {
  /** The mark; null where no ledger was founded yet. */
  readonly text: string | null;
  /**
   * The newest time at which something was written, at least one more than before with every write;
   * 0 where nothing was. Milliseconds since the epoch.
   */
  readonly newest: number;
  /**
   * Whether the store has the last write of this gateway. After a loss it has not, also where
   * others have written since, so that `newest` does not show it.
   */
  readonly isKept: boolean;
  /** Whether a failover of the store cannot take `newest` back. */
  readonly isDurable: boolean;
  /** Whether the store has replicas at present. */
  readonly hasReplicas: boolean;
  /** Null where it is missing; undefined for a store without any. */
  readonly witness?: Witness | null;
  /** The time by the ledger's clock. */
  readonly now: number;
  /**
   * Whether that was set forward (redis-clock.ts); undefined for a store that deletes by no clock.
   */
  readonly isJumped?: boolean;
}

/** No ledger was founded in the store. */
export class NoLedgerError extends UnusableStoreError {}

/** Where a ledger keeps its mark. */
export interface MarkStore {
  /** @param known - what this gateway knows of it */
  readMark(known: ExpectedMark): Promise<StoredMark>;
  /**
   * Replaces the mark if it equals `expected`, atomically.
   *
   * @param resets - whether the newest time becomes the present
   * @returns whether it did
   */
  replaceMark(expected: string | null, next: string, resets: boolean): Promise<boolean>;
  /** Writes the witness of the ledger as it is; of one that is lost, only where there is none. */
  keepWitness?(): Promise<void>;
}

const LOSSES = {
  EMPTY: 'The ledger is empty, and was not before.',
  OTHER: 'The ledger is another one than before.',
  OLDER: 'The ledger is older than it was: what was written last is missing.',
  UNWITNESSED:
    'The file beside the ledger that says how new it is (…-newest) is missing, so the ledger may be an older copy.',
  JUMPED:
    'The clock of Redis is more than seven days ahead of what the gateway reckons: entries may have been deleted ' +
    'too early. Set the clock that is wrong, that of Redis or that of the gateway.',
  CLOCK:
    'The newest entry of the ledger is more than a day ahead of its clock. If the clock is wrong, set it; ' +
    'if it was ahead for a time, entries may have been deleted too early.',
} as const;

/** Instructions for the operator after a loss. */
const REMEDY =
  'Submissions with an idempotency key are refused, because one that was paid before would be paid again; ' +
  'those without one are sent where callers bring their own keys of the service. ' +
  'Restore the ledger, or accept the loss with `foldatlas accept-ledger`, which needs the settings of the gateway ' +
  '(docs/operators.md, A lost ledger).';

const lostError = (loss: keyof typeof LOSSES): LostLedgerError =>
  new LostLedgerError(`${LOSSES[loss]} ${REMEDY}`);

/**
 * Thrown where the file of a ledger was removed or replaced: its gateway still has the one of
 * before.
 */
export const replacedFileError = (): LostLedgerError =>
  new LostLedgerError(`The file of the ledger was removed or replaced. ${REMEDY} Then restart the gateway.`);

const SECRET_REMEDY =
  'With this one callers would not find their batches, and an idempotency key could be paid twice. Give the ' +
  'secret that was used before (without one configured: the .secret file beside the SQLite file), or a new one ' +
  'with all those of the last 31 days as GATEWAY_SECRET_PREVIOUS, separated by commas. If one is lost, run ' +
  '`foldatlas accept-ledger --secret-lost` (docs/operators.md, The secret).';

/** Thrown where the secret that a gateway made is gone, and its ledger is not. */
export const missingSecretError = (file: string): WrongSecretError =>
  new WrongSecretError(
    `The file ${file} is missing or empty: it has the secret that the ledger beside it was written with. With another ` +
      'one callers would not find their batches, and an idempotency key could be paid twice. Nothing was changed. Put ' +
      'the file back from its backup, or give the secret as GATEWAY_SECRET. If it is lost, run ' +
      '`foldatlas accept-ledger --secret-lost` (docs/operators.md, The secret).',
  );

const wrongSecret = (fault: string): WrongSecretError => new WrongSecretError(`${fault} ${SECRET_REMEDY}`);

const markText = z.object({
  id: z.string(),
  /** Keyed hash of the secret. */
  secret: z.string(),
  /** Keyed hashes of the secrets before it, and when each was replaced; of 31 days. */
  former: z.array(z.object({ secret: z.string(), replacedAt: z.number() })).default([]),
  /** The marks that an operator gave up for this one, the last first. */
  replaces: z.array(z.string()),
  /** Whether the store has had replicas: a key is then claimed only when one of them has it too. */
  hasReplicas: z.boolean().default(false),
  /** Whether a witness was written. */
  isWitnessed: z.boolean().default(false),
  /** Set by a gateway that knew another mark. */
  lost: z
    .object({ id: z.string(), loss: z.enum(['EMPTY', 'OTHER', 'OLDER', 'UNWITNESSED', 'JUMPED']) })
    .optional(),
});

type Mark = Readonly<z.output<typeof markText>>;

/** Reads a mark as it is stored. */
export const readMarkText = (text: string): Mark => markText.parse(JSON.parse(text));

/** No token has a space in it. */
const fingerprint = (secret: string): string => principalName(secret, 'fingerprint of the secret');

/** How far the newest entry may be ahead of the clock. */
export const MAX_AHEAD_MS = 24 * 3_600_000;
/** Marks that were given up, of which gateways may still know. */
const MAX_REPLACED = 100;
/** Each try after the first follows another gateway that wrote at the same moment. */
const TRIES = 5;

/** The mark under which a key may be claimed. Times are in milliseconds since the epoch. */
export interface ExpectedMark {
  /** The id in the mark; empty where this gateway knows none. */
  readonly id: string;
  readonly text: string;
  /** The newest time is at least this. */
  readonly leastNewest: number;
  /** The newest time of the last write of this gateway; 0 for none. */
  readonly lastWrite: number;
}

/** The mark of a ledger as a gateway knows it. */
export interface MarkCheck {
  readonly expected: ExpectedMark;
  readonly isLost: boolean;
  /** Adds the newest time of a write under a mark, which no failover can take back. */
  addWrite(expected: ExpectedMark, newest: number): void;
  /**
   * Compares the mark with what is known of it, and founds a ledger that has none. With a former
   * secret in its mark, the ledger is the current one's from then on.
   *
   * @throws WrongSecretError, LostLedgerError, or Error when the store does not answer
   */
  check(store: MarkStore): Promise<void>;
  /**
   * Accepts the ledger as it is.
   *
   * @param isSecretLost - whether it is accepted also where this gateway lacks a secret of it
   * @returns false when nothing was wrong with it
   * @throws NoLedgerError, WrongSecretError, or Error when the store does not answer
   */
  accept(store: MarkStore, isSecretLost: boolean): Promise<boolean>;
}

/** The loss that a mark shows to a gateway or a witness that knew another state of the ledger. */
export function findLoss(mark: Mark | null, newest: number, known: Witness): Mark['lost'] {
  const { id } = known;
  if (mark === null) return { id, loss: 'EMPTY' };
  if (mark.replaces.includes(id)) return undefined;
  if (mark.id !== id) return { id, loss: 'OTHER' };
  return newest < known.newest ? { id, loss: 'OLDER' } : undefined;
}

/**
 * The secrets of a mark once this gateway has checked it. Secrets form a line: one that was
 * replaced does not come back, or two gateways could take the ledger from each other.
 *
 * @throws WrongSecretError
 */
function reviewSecrets(
  mark: Mark,
  own: string,
  given: ReadonlySet<string>,
  now: number,
): Pick<Mark, 'secret' | 'former'> {
  const recent = mark.former.filter(({ replacedAt }) => now - replacedAt <= RETENTION_MS);
  if (recent.some(({ secret }) => secret === own))
    throw wrongSecret('This ledger was written with another secret since.');
  const former = mark.secret === own ? recent : [...recent, { secret: mark.secret, replacedAt: now }];
  for (const { secret, replacedAt } of former) {
    if (given.has(secret)) continue;
    if (secret === mark.secret) throw wrongSecret('This ledger was written with another secret.');
    const day = new Date(replacedAt).toISOString().slice(0, 10);
    throw wrongSecret(`This ledger was written with another secret too, which was replaced on ${day}.`);
  }
  return { secret: own, former };
}

/**
 * Checks the secrets of a gateway that starts against a mark.
 *
 * @throws WrongSecretError
 */
export function checkSecrets(text: string, secrets: LedgerSecrets, now: number): void {
  const given = new Set(formerSecrets(secrets).map(fingerprint));
  reviewSecrets(readMarkText(text), fingerprint(secrets.current), given, now);
}

export function createMarkCheck(secrets: LedgerSecrets): MarkCheck {
  const own = fingerprint(secrets.current);
  const given = new Set(formerSecrets(secrets).map(fingerprint));
  let known: Mark | undefined;
  let text = '';
  let newestSeen = 0;
  let lastWrite = 0;
  let isLost = false;
  /** The ids of a ledger that this gateway has only known as lost: its own, and the one it lost. */
  let lostIds: readonly string[] = [];

  const expected = (): ExpectedMark => ({ id: known?.id ?? '', text, leastNewest: newestSeen, lastWrite });

  /** The loss of what this gateway has known itself. */
  const findOwnLoss = (
    mark: Mark | null,
    { newest, isKept }: StoredMark,
    knownNewest: number,
  ): Mark['lost'] =>
    known && findLoss(mark, newest, { id: known.id, newest: isKept ? knownNewest : Infinity });

  function findLost(mark: Mark | null, stored: StoredMark, knownNewest: number): Mark['lost'] {
    const { newest, witness } = stored;
    const isUnwitnessed = mark?.isWitnessed === true && witness === null;
    const isJumped = mark !== null && stored.isJumped === true;
    const again = lostIds.map((id) => findLoss(mark, newest, { id, newest: 0 }));
    return (
      mark?.lost ??
      findOwnLoss(mark, stored, knownNewest) ??
      (witness && findLoss(mark, newest, witness)) ??
      (again.every((loss) => loss !== undefined) ? again[0] : undefined) ??
      (isUnwitnessed ? { id: mark.id, loss: 'UNWITNESSED' } : undefined) ??
      (isJumped ? { id: mark.id, loss: 'JUMPED' } : undefined)
    );
  }

  /** The mark that the ledger should have. @throws WrongSecretError */
  function review(mark: Mark | null, { now, hasReplicas }: StoredMark, lost: Mark['lost']): Mark {
    // A ledger that was given up stays so.
    const replaces = known?.replaces ?? [];
    const founded = { id: randomUUID(), secret: own, former: [], replaces };
    return {
      ...(mark === null ? founded : { ...mark, ...reviewSecrets(mark, own, given, now) }),
      hasReplicas: hasReplicas || mark?.hasReplicas === true,
      isWitnessed: mark?.isWitnessed === true,
      lost,
    };
  }

  async function checkOnce(store: MarkStore): Promise<boolean> {
    // A write during the read is newer than the mark that is read.
    const before = expected();
    const stored = await store.readMark(before);
    const mark = stored.text === null ? null : readMarkText(stored.text);
    const lost = findLost(mark, stored, before.leastNewest);
    let next: Mark;
    try {
      next = review(mark, stored, lost);
    } catch (error) {
      // A gateway with a former secret may be the only one that knows of a loss. One whose secret
      // this ledger never had is led to the wrong ledger.
      const isNews = mark?.lost === undefined && mark?.former.some(({ secret }) => secret === own);
      const news = isNews ? findOwnLoss(mark, stored, before.leastNewest) : undefined;
      if (news === undefined) throw error;
      if (!(await store.replaceMark(stored.text, JSON.stringify({ ...mark, lost: news }), false)))
        return false;
      throw error;
    }
    const nextText = JSON.stringify(next);
    if (nextText !== stored.text && !(await store.replaceMark(stored.text, nextText, false))) return false;
    if (next.lost !== undefined) {
      await store.keepWitness?.();
      // The next loss is one also for a gateway that knows of nothing else.
      if (known === undefined) lostIds = [next.lost.id, next.id];
      throw lostError(next.lost.loss);
    }
    if (stored.newest > stored.now + MAX_AHEAD_MS) throw lostError('CLOCK');
    // The newest time follows the clock, so that a gateway which starts knows whether it is right.
    if (stored.isJumped === false && stored.now > stored.newest + MAX_AHEAD_MS)
      await store.replaceMark(nextText, nextText, false);
    if (stored.witness !== undefined && stored.witness?.id !== next.id) await store.keepWitness?.();
    if (stored.witness !== undefined && !next.isWitnessed) {
      // From now on a ledger without its witness is lost.
      await store.replaceMark(nextText, JSON.stringify({ ...next, isWitnessed: true }), false);
      return false;
    }
    const newest = stored.isDurable ? stored.newest : 0;
    newestSeen = known?.id === next.id ? Math.max(newestSeen, newest) : newest;
    lastWrite = known?.id === next.id ? lastWrite : 0;
    lostIds = [];
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

  async function accept(store: MarkStore, isSecretLost: boolean): Promise<boolean> {
    const before = await store.readMark(expected());
    if (before.text === null && before.witness == null) throw new NoLedgerError('There is no ledger.');
    let isSound = true;
    try {
      await check(store);
    } catch (error) {
      const isAccepted =
        error instanceof LostLedgerError || (isSecretLost && error instanceof WrongSecretError);
      if (!isAccepted) throw error;
      isSound = false;
    }
    const stored = await store.readMark(expected());
    const { witness, now, hasReplicas } = stored;
    if (isSound) {
      // A ledger whose replicas are gone gives no keys away.
      if (known === undefined || hasReplicas || !known.hasReplicas) return false;
      return store.replaceMark(text, JSON.stringify({ ...known, hasReplicas: false }), false);
    }
    const mark = stored.text === null ? null : readMarkText(stored.text);
    const secretsBefore = mark === null ? [] : [...mark.former, { secret: mark.secret, replacedAt: now }];
    const next: Mark = {
      id: randomUUID(),
      secret: own,
      // The gateway drops the former secrets that it was not given.
      former: secretsBefore.filter(({ secret }) => given.has(secret)),
      // Also what was given up before: a gateway may not have been asked since.
      replaces: [...new Set([mark?.id, mark?.lost?.id, witness?.id, ...(mark?.replaces ?? [])])]
        .filter((id) => id !== undefined)
        .slice(0, MAX_REPLACED),
      hasReplicas,
      isWitnessed: witness !== undefined,
    };
    if (!(await store.replaceMark(stored.text, JSON.stringify(next), true)))
      throw new Error('A gateway changed the ledger at the same moment. Try again.');
    await store.keepWitness?.();
    return true;
  }

  return {
    get expected() {
      return expected();
    },
    get isLost() {
      return isLost;
    },
    addWrite({ id }, newest) {
      newestSeen = Math.max(newestSeen, newest);
      // A ledger that was accepted meanwhile may count from an earlier time.
      if (id === known?.id) lastWrite = Math.max(lastWrite, newest);
    },
    check,
    accept,
  };
}
