// Estimates the cost of an operation before it is executed: a document, the name of its operation,
// and variables as a client sent them.
import {
  type ExecutionArgs,
  type FragmentDefinitionNode,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isInputObjectType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { type QueryCost, queryCost } from './query-cost.ts';

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
