// Executes an event once for all streams with the same operation, so that a poll with thousands of
// watchers is executed and serialized once per distinct query.
import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';

/** What an event is answered to. Equal questions to one event have equal answers. */
export type SharedExecutionKey = string;

let lastDocument = 0;
const documents = new WeakMap<DocumentNode, number>();

/**
 * The key under which streams share results.
 *
 * @param audience - what else decides the result: the caller and the gateway's URL
 */
export function executionKeyOf(
  { document, operationName, variableValues }: ExecutionArgs,
  audience: readonly unknown[],
): SharedExecutionKey {
  // Numbered by the parser's cached document; a document that left the cache gets a new number and
  // is not shared.
  const number = documents.get(document) ?? ++lastDocument;
  documents.set(document, number);
  return JSON.stringify([number, operationName, variableValues, audience]);
}

const answers = new WeakMap<object, Map<SharedExecutionKey, Promise<ExecutionResult | null>>>();

/**
 * The result for an event: that of another stream with the same object and key, or a new one.
 * Results with errors are not shared.
 *
 * @param isStill - whether the client is still connected; the result for one that left may be
 *   incomplete
 */
export async function shareExecution(
  event: unknown,
  question: SharedExecutionKey,
  execute: () => Promise<ExecutionResult>,
  isStill: () => boolean,
): Promise<ExecutionResult> {
  if (typeof event !== 'object' || event === null) return execute();
  const known = answers.get(event)?.get(question);
  if (known !== undefined) return (await known) ?? execute();
  const executing = execute();
  const of = answers.get(event) ?? new Map<SharedExecutionKey, Promise<ExecutionResult | null>>();
  answers.set(event, of);
  of.set(
    question,
    executing.then(
      (result) => (result.errors === undefined && isStill() ? result : null),
      () => null,
    ),
  );
  return executing;
}
