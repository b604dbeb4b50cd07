// Chooses what executes an operation: ours, or for deferred fragments and streamed lists another one over the schema that counts.
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, visit } from 'graphql';
import { countedSchema, countFor } from './counted-schema.ts';
import { type AnswerLimits, type Ending, ExecutionBudget } from './execution-budget.ts';
import { executeOperation } from './query.ts';

type Execute<Result> = (args: ExecutionArgs) => Result;

const PARTS: readonly string[] = ['defer', 'stream'];
const others = new WeakMap<DocumentNode, boolean>();

/** Whether a document is for another executor: it has parts, or a member whose name no plain object can have. */
function isForOther(document: DocumentNode): boolean {
  const known = others.get(document);
  if (known !== undefined) return known;
  let found = false;
  visit(document, {
    Directive({ name }) {
      if (PARTS.includes(name.value)) found = true;
    },
    Field({ alias }) {
      if (alias?.value === '__proto__') found = true;
    },
  });
  others.set(document, found);
  return found;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The signal of a request, where its context has one. */
function endingOf(context: unknown): Ending | undefined {
  if (!isObject(context) || !('upstream' in context)) return undefined;
  const { upstream } = context;
  if (!isObject(upstream) || !('signal' in upstream)) return undefined;
  const { signal } = upstream;
  return isObject(signal) && 'aborted' in signal && 'reason' in signal
    ? {
        get aborted() {
          return signal.aborted === true;
        },
        get reason() {
          return signal.reason;
        },
      }
    : undefined;
}

/**
 * Executes operations within limits.
 *
 * @param other - executes what ours does not
 */
export const limitedExecution =
  <Result>(limits: AnswerLimits, other: Execute<Result>): Execute<Result | Promise<ExecutionResult>> =>
  (args) => {
    const { schema, document, contextValue, rootValue, variableValues, operationName } = args;
    const ending = endingOf(contextValue);
    const own = isForOther(document)
      ? undefined
      : executeOperation({
          schema,
          document,
          contextValue,
          rootValue,
          variableValues: variableValues ?? undefined,
          operationName,
          limits,
          ending,
        });
    if (own !== undefined) return own;
    if (isObject(contextValue)) countFor(contextValue, new ExecutionBudget(limits, ending));
    return other({ ...args, schema: countedSchema(schema) });
  };
