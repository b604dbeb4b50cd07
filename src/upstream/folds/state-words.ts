// Words for states as the service writes them: of tasks, batches and bulk jobs.

const KNOWN: ReadonlySet<string> = new Set([
  'queued',
  'in_progress',
  'done',
  'failed',
  'cancelled',
  'pending',
  'completed',
  'complete',
  'expired',
]);

/** A known word in the contract's spelling, whatever its case; any other as it came. */
export function normalizeState(word: string): string {
  const plain = word.toLowerCase();
  if (plain === 'canceled') return 'cancelled';
  return KNOWN.has(plain) ? plain : word;
}
