// The JSON of an answer that begins before its end is known: one list, item by item, then the
// errors.
import { GraphQLError } from 'graphql';
import { splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import { type Body, openBody } from './response-body.ts';
import { toClientError } from './serialize-result.ts';

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
