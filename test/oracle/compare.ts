// Holds an answer to the reference: the same data, or an error at the place or above it.

/** An answer of the gateway or of the reference. */
export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: unknown };
  }[];
}

type Path = readonly (string | number)[];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Types of the problems of a look-up. */
const PROBLEMS = new Set(['NotFound', 'InvalidInput']);

/** Numbers come as text of different length. */
const CLOSE = 1e-6;
const isClose = (a: number, b: number): boolean => Math.abs(a - b) <= CLOSE * Math.max(1, Math.abs(a));

/**
 * The first place where an answer differs from the reference without an error that accounts for it.
 *
 * @param expected - data of the reference
 * @returns undefined when there is none
 */
export function findDifference(answer: Answer, expected: unknown): string | undefined {
  const failed = (answer.errors ?? []).map(({ path }) => path ?? []);
  // A failure below a non-null field stands higher up as null: its path begins with the place of
  // that null.
  const isExplained = (path: Path): boolean => failed.some((at) => path.every((step, i) => step === at[i]));

  // A look-up tells a failure once for each identifier: at its protein, where one is selected, its
  // problem then being null.
  const isToldBeside = (path: Path, wanted: unknown): boolean =>
    isRecord(wanted) &&
    PROBLEMS.has(String(wanted.__typename)) &&
    failed.some((at) => at.length >= path.length && path.slice(0, -1).every((step, i) => step === at[i]));

  function compare(got: unknown, wanted: unknown, path: Path): string | undefined {
    const said = () =>
      `${path.join('.')}: ${JSON.stringify(got)?.slice(0, 120)} instead of ${JSON.stringify(wanted)?.slice(0, 120)}`;
    // A part that failed is missing from an answer that is put together.
    if (got == null && wanted !== null)
      return isExplained(path) || isToldBeside(path, wanted) ? undefined : said();
    if (Array.isArray(wanted)) {
      if (!Array.isArray(got)) return said();
      if (got.length !== wanted.length)
        return `${path.join('.')}: ${got.length} items instead of ${wanted.length}: ${said()}`;
      for (const [i, item] of wanted.entries()) {
        const difference = compare(got[i], item, [...path, i]);
        if (difference !== undefined) return difference;
      }
      return undefined;
    }
    if (isRecord(wanted)) {
      if (!isRecord(got)) return said();
      for (const [key, item] of Object.entries(wanted)) {
        const difference = compare(got[key], item, [...path, key]);
        if (difference !== undefined) return difference;
      }
      return undefined;
    }
    if (typeof got === 'number' && typeof wanted === 'number')
      return isClose(got, wanted) ? undefined : said();
    return got === wanted ? undefined : said();
  }

  return compare(answer.data ?? null, expected, []);
}
