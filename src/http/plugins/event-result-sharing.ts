// Answers an event once for all streams that ask the same of it: a poll that thousands watch is executed and written as often as
// their questions differ. It knows no event and no schema.
import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql';

/** What an event is answered to. Equal questions to one event have equal answers. */
export type SharedExecutionKey = string;

let lastDocument = 0;
const documents = new WeakMap<DocumentNode, number>();

/**
 * What a stream asks of each of its events.
 *
 * @param audience - whatever else than the operation decides about answers: who asks, and where from
 */
export function executionKeyOf(
  { document, operationName, variableValues }: ExecutionArgs,
  audience: readonly unknown[],
): SharedExecutionKey {
  // The same text is the same document while it is in the parser's cache; another number only costs the sharing.
  const number = documents.get(document) ?? ++lastDocument;
  documents.set(document, number);
  return JSON.stringify([number, operationName, variableValues, audience]);
}

const answers = new WeakMap<object, Map<SharedExecutionKey, Promise<ExecutionResult | null>>>();

/**
 * The answer to an event: the one that another stream was given for the same object and question, or a new one. Only what is whole is
 * shared: a result with errors belongs to whom it happened to.
 *
 * @param isStill - whether the one who asked is still there after the answer; the answer to who has left may lack something
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
