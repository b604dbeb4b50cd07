// The tools of every scenario: the stand-in service, the contestants that have been started, how
// long to measure, and how to tell.
import { isDeepStrictEqual } from 'node:util';
import { openConnection } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import {
  type ContestantName,
  checkoutName,
  type StartOptions,
  startContestant,
  toTitle,
} from '../processes/contestants.ts';
import { listHashes } from '../world/facts.ts';
import type { Template } from '../world/templates.ts';

export interface Bench {
  readonly quick: boolean;
  /** Folders of built checkouts that are measured beside the peers. */
  readonly checkouts: readonly string[];
  /** Pairs of new processes for each kind of query, and the word in the names of those kinds. */
  readonly pairs: number;
  readonly rows: string;
  readonly start: StartOptions;
  readonly templates: readonly Template[];
  /** The stand-in service. */
  readonly stub: Child;
  /** A contestant, started at its first use and kept until the scenario's end. */
  child(name: ContestantName): Promise<Child>;
  /** FoldAtlas, the other checkouts that were named, and these peers. */
  rivals(peers: readonly ContestantName[]): readonly ContestantName[];
  /** Takes so many proteins that were never asked for. @returns the number of the first */
  reserve(count: number): number;
  /** The hashes of so many proteins that were never asked for. */
  fresh(count: number): string[];
  /** The number of a protein that was fresh a short while ago. */
  findNumber(hash: string): number | undefined;
  /** Tells what is being done. */
  progress(text: string): void;
}

/** How many hashes are remembered with their numbers, about. */
const RECENT = 10_000;

export function openBench(
  options: Omit<Bench, 'child' | 'rivals' | 'reserve' | 'fresh' | 'findNumber'>,
): Bench {
  const children = new Map<ContestantName, Promise<Child>>();
  const recent = new Map<string, number>();
  let used = 0;
  const reserve = (count: number): number => {
    used += count;
    return used - count;
  };
  return {
    ...options,
    reserve,
    fresh(count) {
      const first = reserve(count);
      const hashes = listHashes(first, count);
      if (recent.size > RECENT) recent.clear();
      for (const [n, hash] of hashes.entries()) recent.set(hash, first + n);
      return hashes;
    },
    findNumber: (hash) => recent.get(hash),
    rivals: (peers) => ['foldatlas', ...options.checkouts.map(checkoutName), ...peers],
    child(name) {
      const started = children.get(name) ?? startContestant(name, options.start);
      children.set(name, started);
      return started;
    },
  };
}

/** Sets the stand-in's delay and what it says of new batches; its counts begin anew. */
export async function setStub(
  { stub }: Bench,
  state: { latency?: number; done?: boolean } = {},
): Promise<void> {
  await fetch(`${stub.url}/control`, { method: 'POST', body: JSON.stringify(state) });
}

/** Calls since the last {@link setStub}, by operation. */
export async function stubCounts({ stub }: Bench): Promise<Record<string, number>> {
  return (await (await fetch(`${stub.url}/control`)).json()) as Record<string, number>;
}

export const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

/** Asks once and gives the answer's bytes. */
export async function askOnce(url: string, request: Buffer): Promise<{ status: number; body: Buffer }> {
  const connection = await openConnection(url);
  try {
    return await connection.ask(request, { keep: true });
  } finally {
    connection.close();
  }
}

/**
 * Compares an answer value by value.
 *
 * @param reviver - changes values before they are compared, as that of JSON.parse
 *
 * @throws Error that ends the bench: a wrong answer is worth no measurement
 */
function compareBody(
  { name }: Child,
  body: Buffer,
  expected: unknown,
  reviver?: (key: string, value: unknown) => unknown,
): void {
  const answer = JSON.parse(body.toString(), reviver) as { data?: unknown; errors?: unknown };
  if (answer.errors !== undefined || !isDeepStrictEqual(answer.data, expected))
    throw new Error(
      `${toTitle(name)} answers wrongly.\nexpected ${JSON.stringify(expected).slice(0, 700)}\nanswered ${JSON.stringify(answer).slice(0, 700)}`,
    );
}

/** Asks a contestant and compares its answer. @throws Error as {@link compareBody} */
export async function compareAnswer(
  child: Child,
  request: Buffer,
  expected: unknown,
  reviver?: (key: string, value: unknown) => unknown,
): Promise<void> {
  const { body } = await askOnce(child.url, request);
  compareBody(child, body, expected, reviver);
}
