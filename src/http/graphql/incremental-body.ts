// Serializes an answer that begins before its end is known: as one JSON body, or as parts of
// `@stream`.
import { GraphQLError } from 'graphql';
import type { IncrementalResult } from '../../execution/incremental-result.ts';
import { splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import {
  type Body,
  between,
  bodyOf,
  type ExecutionOrIncrementalResult,
  toClientError,
} from './serialize-result.ts';

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
    yield bodyOf(between(before, splitJsonAtLazyTexts(items), '', 1));
    before = ',';
  }
  const all = end === undefined ? growing.failures : [...growing.failures, end];
  const failed = all.length === 0 ? [] : shown(all).map(toClientError);
  const errors = failed.length === 0 ? '' : `,"errors":${JSON.stringify(failed)}`;
  yield bodyOf([`]}${errors}}`]);
}

/** Items of a part at most: a client that draws them as they come has some to draw soon. */
const IN_A_PART = 16;

const errorOf = (thrown: unknown): GraphQLError =>
  thrown instanceof GraphQLError ? thrown : new GraphQLError(String(thrown));

/**
 * The parts of an incremental result, in the format of 2022-08-24: the next items and the path of
 * the first.
 */
export async function* incrementalParts(
  growing: IncrementalResult,
  shown: ErrorPresenter,
): AsyncGenerator<ExecutionOrIncrementalResult, void, undefined> {
  const { key, initial, stream } = growing;
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
    ...(stream?.label === undefined ? {} : { label: stream.label }),
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
