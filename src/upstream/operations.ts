// The time limits and maximum body size of each operation, one line each with its reason.

interface Row {
  /** Milliseconds until the answer begins. */
  readonly start: number;
  /** Milliseconds until the answer is read to its end, including `start`. */
  readonly whole: number;
  /** Bytes of a body that is held in memory, after decompression. */
  readonly bytes: number;
}

const SECOND = 1000;
const MiB = 1024 * 1024;

const limits = (start: number, whole: number, mebibytes: number): Row => ({
  start: start * SECOND,
  whole: whole * SECOND,
  bytes: mebibytes * MiB,
});

const TABLE = {
  // 16,384 rows, 7 MB in one answer.
  features: limits(30, 60, 32),
  // One row; its lists hold some hundreds of names.
  feature: limits(10, 20, 4),
  // The whole member list, seen up to 8,431 hashes.
  cluster: limits(10, 30, 16),
  // A record with its structure and all its activations: 2,000 residues take some 6 MB.
  protein: limits(10, 30, 16),
  // The same, made while the caller waits (`fold_on_miss`).
  proteinFold: limits(60, 90, 16),
  // A picture of 512 x 512.
  thumbnail: limits(10, 20, 4),
  // The service asks another one.
  uniprot: limits(15, 30, 1),
  // A search over all proteins; every hit brings a whole structure.
  similarity: limits(30, 60, 128),
  // Up to 500 proteins gathered before the first byte. The archive is streamed; only a job or error
  // is held.
  bulk: limits(60, 180, 1),
  bulkJob: limits(10, 20, 1),
  bulkJobDelete: limits(10, 20, 1),
  // Up to 2,000 inputs are queued before the answer; giving up early would leave the outcome
  // unknown.
  submit: limits(120, 150, 1),
  // Up to 1,000 items with their errors and signed URLs.
  list: limits(20, 40, 16),
  // A task with its URLs, or an inline result.
  status: limits(10, 30, 32),
  cancel: limits(30, 45, 1),
  // A file from a store; a folding result with the error matrix of 4,000 tokens takes some 100 MB,
  // and up to 180 MB with all digits.
  download: limits(30, 300, 256),
} satisfies Record<string, Row>;

/** An operation of the service, as log lines, metrics and errors call it. */
export type Operation = keyof typeof TABLE;

/** A body that stands still for so long is given up. Milliseconds. */
const STALL_MS = 15 * SECOND;

/** Bounds of one try of an operation. */
export interface OperationLimits extends Row {
  /** Milliseconds after which a body that stands still is given up. */
  readonly stall: number;
}

/** @param patience - what the times are multiplied with (`UPSTREAM_TIMEOUT_FACTOR`) */
export function operationLimits(operation: Operation, patience = 1): OperationLimits {
  const { start, whole, bytes } = TABLE[operation];
  return { start: start * patience, whole: whole * patience, stall: STALL_MS * patience, bytes };
}
