// Every number of the Batch side in one object, and where each comes from: S the spec, C our own
// choice. The Atlas keeps its own.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Limits {
  /** S: entries of `payload` in one Submit. */
  readonly maxItems: number;
  /** S: `repeat` of one Submit. */
  readonly maxRepeat: number;
  /** S: payload length times repeat. */
  readonly maxTasks: number;
  /** S: items of a List page when the request does not say. */
  readonly defaultPage: number;
  /** S: items of a List page at most. */
  readonly maxPage: number;
  /** S: tasks that have not started this long after submission are cancelled. */
  readonly queueDeadlineMs: number;
  /** S: results are readable this long after submission. */
  readonly retentionMs: number;
  /** C: residues, nucleotides and ligand components of one item, all copies counted. */
  readonly maxTokens: number;
  /** C: accepted submissions of one token in any 60 seconds. */
  readonly submissionsPerMinute: number;
  /** C: credits of one token and UTC day; a task costs one credit a token of its input. */
  readonly creditsPerDay: number;
  /** C: tasks in progress at the same time, over all batches. */
  readonly runningTasks: number;
  /** C: a batch waits this long before its first task starts (at speed 1). */
  readonly startDelayMs: number;
  /** C: what every task takes (at speed 1), to which its length is added. */
  readonly taskBaseMs: number;
  /** C: what each token of a task adds (at speed 1). */
  readonly taskPerTokenMs: number;
  /** C: no task takes longer (at speed 1). */
  readonly taskMaxMs: number;
  /** C: lifetime of the signed URL in `response`. */
  readonly responseUrlSeconds: number;
  /** C: lifetime of the signed URLs in `artifacts`. */
  readonly artifactUrlSeconds: number;
  /** C: bytes of a request body. */
  readonly maxBodyBytes: number;
}

export const defaultLimits: Limits = {
  maxItems: 2000,
  maxRepeat: 2000,
  maxTasks: 2000,
  defaultPage: 100,
  maxPage: 1000,
  queueDeadlineMs: DAY_MS,
  retentionMs: 31 * DAY_MS,
  maxTokens: 8192,
  submissionsPerMinute: 120,
  creditsPerDay: 5_000_000,
  runningTasks: 4,
  startDelayMs: 1500,
  taskBaseMs: 2000,
  taskPerTokenMs: 10,
  taskMaxMs: 20_000,
  responseUrlSeconds: 3600,
  artifactUrlSeconds: 900,
  maxBodyBytes: 32 * 1024 * 1024,
};
