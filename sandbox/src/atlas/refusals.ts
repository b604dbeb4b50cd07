// The refusals of the Atlas: validation problems as 422 in the form of FastAPI,
// everything else as a detail text.

/** One entry of a 422 body. */
export interface ValidationProblem {
  /** Where: `query` or `path` or `body`, then the way to the value. */
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Longest echo of a bad value, in characters of JSON. */
const LONGEST_ECHO = 2000;

/** The bad value as it can be given back: long or too deeply nested ones are only named. */
function echo(input: unknown): unknown {
  try {
    const text = JSON.stringify(input) ?? 'null';
    return text.length <= LONGEST_ECHO ? input : `${text.slice(0, LONGEST_ECHO)}…`;
  } catch {
    return 'a value nested too deeply to be repeated';
  }
}

/** 422 with every problem at once. */
export const unprocessable = (problems: readonly ValidationProblem[]): Response =>
  Response.json(
    { detail: problems.map((problem) => ({ ...problem, input: echo(problem.input) })) },
    { status: 422 },
  );

/** Any other refusal. */
export const refusal = (
  status: 400 | 403 | 404 | 405 | 410 | 413 | 416 | 500,
  detail: string,
  headers: Record<string, string> = {},
): Response => Response.json({ detail }, { status, headers });
