// Executes operations (Executing Requests of the GraphQL specification). Faster than graphql-js,
// which spends a third of a list of 100 proteins on argument and result objects. Counts values,
// yields to the event loop. Operations with `@defer` or `@stream` go to another executor, over the
// counted schema; a test compares ours with graphql-js.
import {
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  getVariableValues,
  locatedError,
  OperationTypeNode,
} from 'graphql';
import { executionTurns, type TurnClock } from '../async/turn-clock.ts';
import { checkParts, type Results, withCuts } from './answer-parts.ts';
import { countedSchema, countFor } from './counted-schema.ts';
import { documentFacts } from './document-facts.ts';
import { type Data, Execution } from './execution.ts';
import { type AnswerLimits, ExecutionBudget } from './execution-budget.ts';
import { type PlannedField, plansOf } from './field-plan.ts';

/** What is executed, of a valid document. */
export interface QueryArgs
  extends Pick<
    ExecutionArgs,
    'schema' | 'document' | 'operationName' | 'rootValue' | 'contextValue' | 'variableValues'
  > {
  readonly limits: AnswerLimits;
  /** The time of a turn of the event loop that it shares with others. */
  readonly turns?: TurnClock | undefined;
}

/** Completes the fields of a mutation: each when the one before has ended. */
async function completeInTurn(
  execution: Execution,
  fields: readonly PlannedField[],
  root: unknown,
): Promise<Data> {
  const data: Data = {};
  for (const field of fields) data[field.key] = await execution.resolveField(field, undefined, root);
  return data;
}

/**
 * Executes a query, a mutation, or an event of a subscription.
 *
 * @returns undefined when the document or the variables are invalid: graphql-js then reports why
 */
export function executeOperation(args: QueryArgs): Promise<ExecutionResult> | undefined {
  const { schema, document, contextValue, rootValue, limits, turns = executionTurns } = args;
  turns.hasTime();
  const operation = getOperationAST(document, args.operationName);
  const type = operation == null ? undefined : schema.getRootType(operation.operation);
  if (operation == null || type == null) return undefined;
  const { variableDefinitions = [] } = operation;
  const { coerced: variableValues } = getVariableValues(
    schema,
    variableDefinitions,
    args.variableValues ?? {},
    // Graphql-js reports them, and no more than fifty: each takes longer than a value that is right.
    { maxErrors: 1 },
  );
  if (variableValues === undefined) return undefined;
  const { fragments } = documentFacts(document);
  const plans = plansOf(schema, document);
  const budget = new ExecutionBudget(limits, contextValue, turns);
  const source = { schema, fragments, operation, variableValues, contextValue, rootValue, plans, budget };
  const execution = new Execution(source);
  const fields = execution.fieldsOf(type, [operation], operation);
  if (operation.operation === OperationTypeNode.MUTATION)
    return execution.answer(() => completeInTurn(execution, fields, rootValue));
  const complete = () => execution.completeFields(fields, undefined, rootValue);
  // Coercing large variables takes a turn of its own.
  return execution.answer(() => (turns.hasTime() ? complete() : budget.nextTurn().then(complete)));
}

/**
 * Executes operations within limits.
 *
 * @param other - executes what ours does not support: parts, and names that no plain object can have
 */
export function limitedExecution(
  limits: AnswerLimits,
  other: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>,
): (args: ExecutionArgs) => Promise<ExecutionResult>;
export function limitedExecution(
  limits: AnswerLimits,
  other: (args: ExecutionArgs) => Results | Promise<Results>,
): (args: ExecutionArgs) => Promise<Results>;
export function limitedExecution(
  limits: AnswerLimits,
  other: (args: ExecutionArgs) => Results | Promise<Results>,
): (args: ExecutionArgs) => Promise<Results> {
  return async (args) => {
    const { hasParts, hasUnsafeAlias } = documentFacts(args.document);
    if (!hasParts && !hasUnsafeAlias) {
      const own = executeOperation({ limits, ...args });
      if (own !== undefined) return own;
    }
    const { contextValue, schema } = args;
    try {
      checkParts(args);
    } catch (error) {
      return { data: null, errors: [locatedError(error, undefined)] };
    }
    const budget = new ExecutionBudget(limits, contextValue);
    if (typeof contextValue === 'object' && contextValue !== null) countFor(contextValue, budget);
    const result = await other({ ...args, schema: countedSchema(schema) });
    return withCuts(result, budget);
  };
}
