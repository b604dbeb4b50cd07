// Why a store cannot be used, as the log and /ready say it.
import { OperationalError } from '../async/operational-error.ts';

/** Why the store cannot be used. The message is for operators, and names no place. */
export class UnusableStoreError extends OperationalError {}

/** The disk is full, read-only or broken. */
export class UnwritableDiskError extends UnusableStoreError {
  /** @param isStart - whether the gateway began so; it then has to be started again */
  constructor(cause: unknown, isStart = false) {
    super(
      'The disk of the store is full or read-only: nothing can be written down, and submissions with an ' +
        `idempotency key are refused. Make room, or mount it writable${isStart ? '; then restart the gateway' : ''}.`,
      { cause },
    );
  }
}

/** The ledger has lost what it knew, or may have. */
export class LostLedgerError extends UnusableStoreError {}

/** Pages of the database do not fit together, or are those of something else. */
export class DamagedStoreError extends LostLedgerError {
  /** As SQLite says it. */
  readonly damage: string;

  constructor(damage: string, cause?: unknown) {
    super(
      `The database of the store is damaged (${damage}). It may have lost which idempotency keys were paid, so ` +
        'submissions with one are refused. Stop all gateways, put the database back from its backup, delete the ' +
        'files …-wal and …-shm beside it, run `foldatlas accept-ledger`, and start (docs/operators.md, Backup).',
      { cause },
    );
    this.damage = damage;
  }
}
