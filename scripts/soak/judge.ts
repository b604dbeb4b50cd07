// Says what a soak has shown to be wrong. Pure: it starts and asks nothing.
import type { Sample } from './sample.ts';

export interface Evidence {
  readonly samples: readonly Sample[];
  /** Taken when everybody had left. */
  readonly calm: Sample;
  /** How often what was answered. */
  readonly seen: ReadonlyMap<string, number>;
  readonly exitCode: number | null;
  readonly log: string;
}

/** The first third of the time is warm-up: caches fill, code is compiled. */
const WARM_UP = 1 / 3;
/** The median of the last third may exceed that of the second by so many bytes or this share. */
const MOST_GROWTH = 60e6;
const MOST_SHARE = 0.35;
/**
 * Sockets that may be open when all clients have left: the listener, connections kept to the
 * upstream.
 */
const MOST_SOCKETS = 40;

const middle = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** @returns a sentence for each thing that is wrong */
export function judge({ samples, calm, seen, exitCode, log }: Evidence): string[] {
  const problems: string[] = [];
  for (const bad of ['code INTERNAL_SERVER_ERROR', 'status 500'])
    if (seen.has(bad)) problems.push(`WRONG: ${seen.get(bad)} times ${bad}.`);
  if (!seen.has('status 200')) problems.push('WRONG: nothing was answered with 200.');
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const half = Math.floor(warm.length / 2);
  const before = middle(warm.slice(0, half).map(({ memory }) => memory));
  const after = middle(warm.slice(half).map(({ memory }) => memory));
  if (after - before > Math.max(MOST_GROWTH, before * MOST_SHARE))
    problems.push(
      `WRONG: memory grew after the warm-up, from ${(before / 1e6).toFixed(0)} to ${(after / 1e6).toFixed(0)} MB.`,
    );
  if (calm.sockets > MOST_SOCKETS) problems.push(`WRONG: ${calm.sockets} sockets stayed open.`);
  if (exitCode !== 0) problems.push(`WRONG: SIGTERM ended it with ${exitCode}: ${log.slice(-800)}`);
  return problems;
}
