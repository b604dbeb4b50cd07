// Serializes an answer that begins before its end is known: as one JSON body, or as parts of
// `@stream`.
import { GraphQLError } from 'graphql';
import { splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import { type Body, openBody } from './response-body.ts';
import { type ExecutionOrIncrementalResult, toClientError } from './serialize-result.ts';

/** A result of which the only list is still growing. */
export interface IncrementalResult {
  /** Of the list in the data. */
  readonly key: string;
  /** What has failed so far. */
  readonly failures: readonly GraphQLError[];
  /**
   * The next items: all that are ready, or at most `most`; undefined at the end.
   *
   * @throws when the whole answer would have to be taken back
   */
  next(most?: number): Promise<readonly unknown[] | undefined>;
}

/** Errors as their caller sees them. */
export type ErrorPresenter = (errors: readonly GraphQLError[]) => readonly GraphQLError[];

/**
 * The JSON of an incremental result in chunks. `errors` follow `data`, in the order that GraphQL
 * allows.
 */
export async function* streamedBodies(
  growing: IncrementalResult,
  shown: ErrorPresenter,
): AsyncGenerator<Body, void, undefined> {
  let before = `{"data":{${JSON.stringify(growing.key)}:[`;
  let end: GraphQLError | undefined;
  const next = async (): Promise<readonly unknown[] | undefined> => {
    try {
      return await growing.next();
    } catch (error) {
      // An answer that becomes too large ends with the items that it has.
      if (!(error instanceof GraphQLError) || error.extensions.code !== 'QUERY_TOO_EXPENSIVE') throw error;
      end = error;
      return undefined;
    }
  };
  for (let items = await next(); items !== undefined; items = await next()) {
    const { around, texts } = splitJsonAtLazyTexts(items);
    // Without the brackets of a list of its own.
    const inner = around.map((json, i) => (i === 0 ? before + json.slice(1) : json));
    yield openBody({ around: inner.with(-1, inner.at(-1)?.slice(0, -1) ?? ''), texts });
    before = ',';
  }
  const all = end === undefined ? growing.failures : [...growing.failures, end];
  const failed = all.length === 0 ? [] : shown(all).map(toClientError);
  const errors = failed.length === 0 ? '' : `,"errors":${JSON.stringify(failed)}`;
  yield openBody({ around: [`]}${errors}}`], texts: [] });
}

/** One that is given in parts (`@stream`). */
export interface GrowingInParts extends IncrementalResult {
  /** What the first part has. */
  readonly initial: readonly unknown[];
}

/** Items of a part at most: a client that draws them as they come has some to draw soon. */
const IN_A_PART = 16;

const errorOf = (thrown: unknown): GraphQLError =>
  thrown instanceof GraphQLError ? thrown : new GraphQLError(String(thrown));

/**
 * The parts of an incremental result, in the format of 2022-08-24: the next items and the path of
 * the first.
 *
 * @param label - of the list's `@stream`
 */
export async function* incrementalParts(
  growing: GrowingInParts,
  label: string | undefined,
  shown: ErrorPresenter,
): AsyncGenerator<ExecutionOrIncrementalResult, void, undefined> {
  const { key, initial } = growing;
  let told = 0;
  /** What has failed since the part before. */
  const failed = (): { readonly errors?: readonly GraphQLError[] } => {
    const errors = growing.failures.slice(told);
    told += errors.length;
    return errors.length === 0 ? {} : { errors: shown(errors) };
  };
  yield { ...failed(), data: { [key]: initial }, hasNext: true };
  let at = initial.length;
  const part = (items: readonly unknown[] | null, more: ReturnType<typeof failed>) => ({
    path: [key, at],
    ...(label === undefined ? {} : { label }),
    items,
    ...more,
  });
  try {
    for (;;) {
      const items = await growing.next(IN_A_PART);
      if (items === undefined) break;
      yield { hasNext: true, incremental: [part(items, failed())] };
      at += items.length;
    }
    yield { hasNext: false };
  } catch (error) {
    const { errors = [] } = failed();
    yield { hasNext: false, incremental: [part(null, { errors: [...errors, ...shown([errorOf(error)])] })] };
  }
}
