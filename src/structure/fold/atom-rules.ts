// The rules that the lists of atoms of a result keep, in one table. The first that is broken is the
// misfit of the structure. Each list is walked once, by a plain loop.
import { describeMisfit, quote } from './misfit.ts';

/** The lists of `complex` as they came; one that is missing is empty. */
export interface AtomLists {
  readonly tokenCount: number;
  readonly positions: readonly unknown[];
  readonly names: readonly unknown[];
  readonly elements: readonly unknown[];
  readonly hetero: readonly unknown[];
  readonly ranges: readonly unknown[];
}

interface Broken {
  readonly path: string;
  readonly expected: string;
  readonly seen: string;
}

/** Finds where a rule is broken; undefined where it is kept. */
type Rule = (lists: AtomLists) => Broken | undefined;

/** Ångström: no complex is so large. */
const MAX_COORDINATE = 100_000;

const isPosition = (row: unknown): boolean =>
  Array.isArray(row) &&
  row.length === 3 &&
  row.every((cell) => cell === null || (typeof cell === 'number' && !(Math.abs(cell) > MAX_COORDINATE)));

const countAtoms = ({ names, positions }: AtomLists): number => names.length || positions.length;

const hasPosition = (row: unknown): boolean => Array.isArray(row) && row.some(Number.isFinite);

/** A list with one entry for each atom, where there is one. */
const hasEntryOfEachAtom =
  (path: string, list: 'names' | 'elements' | 'hetero'): Rule =>
  (lists) => {
    const { positions, [list]: entries } = lists;
    return entries.length === 0 || entries.length === positions.length
      ? undefined
      : { path, expected: `one for each of the ${positions.length} atoms`, seen: String(entries.length) };
  };

/** Atoms of at most one token: each range ends before the next begins, in whichever order. */
function findOverlap(ranges: readonly unknown[], atomCount: number): number {
  const taken = new Uint8Array(atomCount);
  let least = 0;
  return ranges.findIndex((range) => {
    const [start, end] = range as [number, number];
    // Ranges in the order of the atoms need no look at each atom.
    if (start >= least) {
      taken.fill(1, start, end);
      least = end;
      return false;
    }
    for (let atom = start; atom < end; atom += 1) {
      if (taken[atom] === 1) return true;
      taken[atom] = 1;
    }
    least = Math.max(least, end);
    return false;
  });
}

const isRange = (range: unknown, atomCount: number): boolean => {
  if (!Array.isArray(range) || range.length !== 2) return false;
  const [start, end]: unknown[] = range;
  if (!Number.isInteger(start) || !Number.isInteger(end)) return false;
  return Number(start) >= 0 && Number(start) <= Number(end) && Number(end) <= atomCount;
};

const RANGES = 'complex.token_to_atoms';

const RULES: readonly Rule[] = [
  ({ positions }) => {
    const odd = positions.findIndex((row) => !isPosition(row));
    const expected = `three coordinates of at most ${MAX_COORDINATE} ångström`;
    return odd < 0
      ? undefined
      : { path: `complex.atom_positions.${odd}`, expected, seen: quote(positions[odd]) };
  },
  (lists) => {
    const count = countAtoms(lists);
    const seen = lists.positions.length;
    return seen === count
      ? undefined
      : { path: 'complex.atom_positions', expected: `${count} rows of three`, seen: String(seen) };
  },
  ({ positions }) =>
    positions.some(hasPosition)
      ? undefined
      : { path: 'complex.atom_positions', expected: 'coordinates', seen: 'none' },
  hasEntryOfEachAtom('complex.atom_elements', 'elements'),
  hasEntryOfEachAtom('complex.atom_hetero', 'hetero'),
  ({ ranges, tokenCount }) =>
    ranges.length === tokenCount
      ? undefined
      : {
          path: RANGES,
          expected: `a range of atoms for each of ${tokenCount} tokens`,
          seen: ranges.length === 0 ? 'none' : String(ranges.length),
        },
  ({ ranges, positions: { length } }) => {
    const odd = ranges.findIndex((range) => !isRange(range, length));
    return odd < 0
      ? undefined
      : { path: `${RANGES}.${odd}`, expected: `a range of the ${length} atoms`, seen: quote(ranges[odd]) };
  },
  ({ ranges, positions: { length } }) => {
    const odd = findOverlap(ranges, length);
    return odd < 0
      ? undefined
      : { path: `${RANGES}.${odd}`, expected: 'atoms of no other token', seen: quote(ranges[odd]) };
  },
];

/** Why the atoms cannot be written down; null when they can, and when the result has none. */
export function findAtomsMisfit(lists: AtomLists): string | null {
  if (countAtoms(lists) === 0) return null;
  for (const rule of RULES) {
    const broken = rule(lists);
    if (broken !== undefined) return describeMisfit(broken.path, broken.expected, broken.seen);
  }
  return null;
}
