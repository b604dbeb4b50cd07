// The kinds of queries that are measured in pairs: requests, the right answer, and how much of each
// makes a turn.
import { describeFeature } from '../../../sandbox/src/atlas/feature-text.ts';
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import type { ContestantName } from '../processes/contestants.ts';
import { askOnce, type Bench, compareAnswer } from './bench.ts';
import {
  keepAtoms,
  LIST,
  LIST_OF_TEN,
  ONE,
  openExpected,
  SMALL,
  STRUCTURES,
  TINY,
  TOP_OF_TEN,
} from './expected.ts';
import { checkExpected, checkRequest, submitRequest } from './mutations.ts';

/** The requests of a kind, and the comparison of the first answer of a process. */
interface Requests {
  readonly next: () => Buffer;
  /** @throws Error for a wrong answer */
  check(child: Child): Promise<void>;
}

/** One kind of query. */
export interface Kind {
  readonly name: string;
  /** How a target names it. */
  readonly title: string;
  /** The peers, and the largest ratio that a target allows. */
  readonly peers: readonly { readonly name: ContestantName; readonly most?: number }[];
  readonly connections: number;
  /** Answers before anything is measured, and answers of each turn. */
  readonly warm: number;
  readonly answers: number;
  open(bench: Bench): Requests;
}

const same = (request: Buffer, expected: unknown): Requests => ({
  next: () => request,
  check: (child) => compareAnswer(child, request, expected),
});

/** Requests for proteins that were never asked for. */
const fresh = (
  bench: Bench,
  size: number,
  ask: (hashes: readonly string[]) => Buffer,
  expected: (hashes: readonly string[]) => unknown,
): Requests => ({
  next: () => ask(bench.fresh(size)),
  check(child) {
    const hashes = bench.fresh(size);
    return compareAnswer(child, ask(hashes), expected(hashes), keepAtoms);
  },
});

/** Requests that are numbered, so that no two are the same. */
let requests = 0;
const nextNumber = (): number => {
  requests += 1;
  return requests;
};

const HIT = { connections: 16, warm: 4_000, answers: 1_000 };
const LISTS = { warm: 150, answers: 25 };

export const KINDS: readonly Kind[] = [
  {
    ...HIT,
    name: 'a hit, tiny',
    title: 'A hit, tiny',
    peers: [{ name: 'mercurius-cache', most: 1.1 }],
    open() {
      const nodes = Array.from({ length: 10 }, (_, index) => ({
        index,
        label: describeFeature(index).label,
      }));
      return same(operationBytes(TINY), { features: { nodes } });
    },
  },
  {
    ...HIT,
    name: 'a hit, one protein',
    title: 'A hit, one protein',
    peers: [{ name: 'mercurius-cache', most: 1.1 }],
    open(bench) {
      const [hash = ''] = bench.fresh(1);
      return same(operationBytes(ONE, { hash }), openExpected(bench).one(hash));
    },
  },
  {
    connections: 16,
    warm: 1_500,
    answers: 200,
    name: 'one new protein',
    title: 'One new protein, three fields',
    peers: [{ name: 'yoga', most: 1.1 }, { name: 'apollo' }],
    open: (bench) =>
      fresh(
        bench,
        1,
        ([hash]) => operationBytes(SMALL, { hash }),
        ([hash = '']) => openExpected(bench).small(hash),
      ),
  },
  {
    ...LISTS,
    connections: 4,
    name: 'list of 100',
    title: '100 new proteins',
    peers: [{ name: 'yoga-bulk', most: 1.25 }],
    open: (bench) =>
      fresh(bench, 100, (hashes) => operationBytes(LIST, { hashes }), openExpected(bench).list),
  },
  {
    ...LISTS,
    connections: 8,
    name: 'list of 100, ten features',
    title: '100 new proteins, ten features',
    peers: [{ name: 'yoga-bulk', most: 1.25 }],
    open: (bench) =>
      fresh(
        bench,
        100,
        (hashes) => operationBytes(LIST_OF_TEN, { hashes }),
        (hashes) => openExpected(bench).list(hashes, TOP_OF_TEN),
      ),
  },
  {
    connections: 1,
    warm: 8,
    answers: 2,
    name: '500 structures',
    title: '500 structures',
    peers: [{ name: 'yoga-jit-bulk' }],
    open: (bench) =>
      fresh(bench, 500, (ids) => operationBytes(STRUCTURES, { ids }), openExpected(bench).structures),
  },
  {
    ...LISTS,
    connections: 4,
    name: 'checkFold',
    title: 'checkFold of 100 complexes',
    peers: [{ name: 'yoga-folds', most: 1.3 }],
    open: () => ({
      next: () => checkRequest(nextNumber()),
      check: (child) => compareAnswer(child, checkRequest(1), checkExpected(1)),
    }),
  },
  {
    connections: 4,
    warm: 1_000,
    answers: 150,
    name: 'submitFold',
    title: 'submitFold of one complex',
    peers: [{ name: 'yoga-folds' }],
    open: () => ({
      next: () => submitRequest(nextNumber()),
      async check(child) {
        const { body } = await askOnce(child.url, submitRequest(nextNumber()));
        if (!body.includes('"FoldSubmitted"'))
          throw new Error(`${child.name}: ${body.toString('utf8', 0, 500)}`);
      },
    }),
  },
];
