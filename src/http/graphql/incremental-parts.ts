// An answer that comes in parts: one list, some items in each, with what has failed in them.
import { GraphQLError } from 'graphql';
import type { ErrorPresenter, IncrementalResult } from './incremental-body.ts';
import type { ExecutionOrIncrementalResult } from './serialize-result.ts';

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
