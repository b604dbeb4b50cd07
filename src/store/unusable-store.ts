/** Why the store cannot be used. The message is for operators, and names no place. */
export class UnusableStoreError extends Error {}

/** The disk is full or read-only. */
export class UnwritableDiskError extends UnusableStoreError {
  constructor(cause: unknown) {
    super(
      'The disk of the store is full or read-only: nothing can be written down, and submissions with an ' +
        'idempotency key are refused. Make room, or mount it writable; then restart the gateway.',
      { cause },
    );
  }
}
