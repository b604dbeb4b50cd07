// Refuses operations that may cost too much, before anything is executed. Not a validation rule:
// Yoga caches validation by document, and the cost depends on the variables.
import {
  type ExecutionArgs,
  type FragmentDefinitionNode,
  GraphQLError,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isInputObjectType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { Config } from '../../../config.ts';
import { PART_VALUES, type QueryCost, queryCost } from '../../../schema/query-cost.ts';

export type CostLimits = Pick<Config, 'MAX_QUERY_COST' | 'limits'>;

type OperationArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>;

/**
 * The variables that the cost depends on. Lists and input objects stay as the client gave them:
 * coercing them takes as long as checking a fold, and the executor does it before it resolves
 * anything.
 *
 * @returns undefined when others are invalid
 */
function readVariables(
  { schema, variableValues }: OperationArgs,
  definitions: readonly VariableDefinitionNode[],
): Record<string, unknown> | undefined {
  const given = variableValues ?? {};
  const asGiven: [name: string, value: unknown][] = [];
  const others = definitions.filter(({ variable: { name }, type }) => {
    if (!Object.hasOwn(given, name.value)) return true;
    const { [name.value]: value } = given;
    if (!Array.isArray(value) && !isInputObjectType(getNamedType(typeFromAST(schema, type)))) return true;
    asGiven.push([name.value, value]);
    return false;
  });
  const { coerced } = getVariableValues(schema, others, given, { maxErrors: 1 });
  return coerced && { ...coerced, ...Object.fromEntries(asGiven) };
}

/**
 * The most that an operation can cost.
 *
 * @returns undefined when there is no such operation or its variables are invalid: the executor
 *   refuses it
 */
export function estimateCost(args: OperationArgs): QueryCost | undefined {
  const { schema, document, operationName } = args;
  const operation = getOperationAST(document, operationName);
  if (operation == null) return undefined;
  const variableValues = readVariables(args, operation.variableDefinitions ?? []);
  if (variableValues === undefined) return undefined;
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  return queryCost({ schema, fragments, operation, variableValues });
}

const tooExpensive = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } });

/** The error of an operation that costs too much; undefined for one that may be executed. */
export function costError({ calls, depth, values }: QueryCost, config: CostLimits): GraphQLError | undefined {
  const { MAX_QUERY_COST, limits } = config;
  if (depth > limits.queryDepth)
    return tooExpensive(
      `The query is ${depth} levels deep; ${limits.queryDepth} are allowed. ` +
        'Ask for the inner part in a query of its own.',
    );
  if (calls > MAX_QUERY_COST)
    return tooExpensive(
      `The query could cost ${calls} upstream calls; ${MAX_QUERY_COST} are allowed. ` +
        'Ask for shorter lists or fewer links at once.',
    );
  if (values > limits.answerValues)
    return tooExpensive(
      `The answer could have ${Math.ceil(values)} values; ${limits.answerValues} are allowed. ` +
        `Each part of @defer and @stream counts as ${PART_VALUES}. Select fewer fields or ` +
        'shorter lists, page through them, or use startBulkLookup for many proteins.',
    );
  return undefined;
}
