// Reads the query of a request parameter by parameter, collecting problems.
import { type Bounds, checkBoolean, checkInteger, checkNumber, type Problems } from './checks.ts';

/** One request's query. A parameter that is given twice counts as given last, but for lists. */
export interface QueryReader {
  readonly problems: Problems;
  integer(name: string, fallback: number, bounds?: Bounds): number;
  optionalInteger(name: string, bounds?: Bounds): number | undefined;
  optionalNumber(name: string, bounds?: Bounds): number | undefined;
  boolean(name: string, fallback: boolean): boolean;
  /** Every value of a repeated key; undefined when the key is absent. */
  integers(name: string): number[] | undefined;
  /** A text that must be there. */
  text(name: string): string;
}

export function readQuery(url: string): QueryReader {
  const given = new URL(url).searchParams;
  const problems: Problems = [];
  const last = (name: string): string | undefined => given.getAll(name).at(-1);
  const loc = (name: string): string[] => ['query', name];
  return {
    problems,
    integer(name, fallback, bounds) {
      const value = last(name);
      return value === undefined ? fallback : checkInteger(problems, loc(name), value, fallback, bounds);
    },
    optionalInteger(name, bounds) {
      const value = last(name);
      return value === undefined ? undefined : checkInteger(problems, loc(name), value, 0, bounds);
    },
    optionalNumber(name, bounds) {
      const value = last(name);
      return value === undefined ? undefined : checkNumber(problems, loc(name), value, bounds);
    },
    boolean(name, fallback) {
      const value = last(name);
      return value === undefined ? fallback : checkBoolean(problems, loc(name), value, fallback);
    },
    integers(name) {
      if (!given.has(name)) return undefined;
      return given
        .getAll(name)
        .map((value, n) => checkInteger(problems, [...loc(name), String(n)], value, -1));
    },
    text(name) {
      const value = last(name);
      if (value === undefined)
        problems.push({ loc: loc(name), msg: 'Field required', type: 'missing', input: null });
      return value ?? '';
    },
  };
}
