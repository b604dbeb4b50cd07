// What a document says of itself, read in one walk for all that ask: limits, delivery and
// execution; and its `@stream`, of the only list and of a field.
import { GraphQLStreamDirective, memoize1 } from '@graphql-tools/utils';
import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';

export interface DocumentFacts {
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly fragmentCount: number;
  /** Those of fields, fragments, variables and operations. */
  readonly directives: readonly DirectiveNode[];
  /** Whether it has `@defer` or `@stream`. */
  readonly hasParts: boolean;
  /** Whether a field has an alias that no plain object can have as a member. */
  readonly hasUnsafeAlias: boolean;
}

/** The directives that have an answer come in parts. */
export const PARTS: ReadonlySet<string> = new Set(['defer', 'stream']);

/** The facts of a document that was parsed. */
export const documentFacts = memoize1(({ definitions }: DocumentNode): DocumentFacts => {
  const operations: OperationDefinitionNode[] = [];
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  const directives: DirectiveNode[] = [];
  let fragmentCount = 0;
  let hasUnsafeAlias = false;
  const read = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (node.directives !== undefined) directives.push(...node.directives);
      if (node.kind === Kind.FIELD) hasUnsafeAlias ||= node.alias?.value === '__proto__';
      if (node.kind !== Kind.FRAGMENT_SPREAD && node.selectionSet !== undefined) read(node.selectionSet);
    }
  };
  for (const node of definitions) {
    if (node.kind === Kind.OPERATION_DEFINITION) operations.push(node);
    else if (node.kind === Kind.FRAGMENT_DEFINITION) {
      fragments[node.name.value] = node;
      fragmentCount += 1;
    }
    if (node.directives !== undefined) directives.push(...node.directives);
    if (!('selectionSet' in node)) continue;
    for (const variable of node.variableDefinitions ?? [])
      if (variable.directives !== undefined) directives.push(...variable.directives);
    read(node.selectionSet);
  }
  const hasParts = directives.some(({ name }) => PARTS.has(name.value));
  return { operations, fragments, fragmentCount, directives, hasParts, hasUnsafeAlias };
});

/** How a list is given in parts. */
export interface StreamedList {
  /** Items of the first part. */
  readonly initialCount: number;
  readonly label: string | undefined;
}

function streamOfOperation({
  selectionSet: { selections },
}: OperationDefinitionNode): StreamedList | undefined {
  const [only] = selections;
  if (selections.length !== 1 || only?.kind !== Kind.FIELD) return undefined;
  const stream = only.directives?.find(({ name }) => name.value === GraphQLStreamDirective.name);
  if (stream?.arguments?.some(({ value }) => value.kind === Kind.VARIABLE) !== false) return undefined;
  const { if: isOn, initialCount, label } = getDirectiveValues(GraphQLStreamDirective, only) ?? {};
  if (isOn === false || typeof initialCount !== 'number' || initialCount < 0) return undefined;
  return { initialCount, label: typeof label === 'string' ? label : undefined };
}

/** What a document says of parts and names. */
interface DocumentParts {
  /** The only list of its only query, which is streamed; undefined for anything else. */
  readonly stream: StreamedList | undefined;
  /** Whether it has other parts, or a member whose name no plain object can have. */
  readonly needsOtherExecutor: boolean;
}

/** What a document says of parts. */
export function documentParts(document: DocumentNode): DocumentParts {
  const { operations, directives, hasParts, hasUnsafeAlias } = documentFacts(document);
  if (!hasParts) return { stream: undefined, needsOtherExecutor: hasUnsafeAlias };
  const [only] = operations;
  const isQuery = operations.length === 1 && only?.operation === OperationTypeNode.QUERY;
  const isAlone = directives.filter(({ name }) => PARTS.has(name.value)).length === 1;
  const stream = isQuery && isAlone && !hasUnsafeAlias ? streamOfOperation(only) : undefined;
  return { stream, needsOtherExecutor: stream === undefined };
}

/** The `@stream` of a field; undefined where its list is given as a whole. */
function streamOf({ fieldNodes: [node], variableValues }: GraphQLResolveInfo) {
  if (node === undefined) return undefined;
  const values = getDirectiveValues(GraphQLStreamDirective, node, variableValues);
  return values?.if === false ? undefined : values;
}
const streamOfRoot = (info: GraphQLResolveInfo) =>
  info.path.prev === undefined ? streamOf(info) : undefined;

/** Whether the items of a root field are given as they come. */
export const hasStreamDirective = (info: GraphQLResolveInfo): boolean => streamOfRoot(info) !== undefined;

/** Whether they are so from the first on. */
export const isStreamedFromFirst = (info: GraphQLResolveInfo): boolean =>
  streamOfRoot(info)?.initialCount === 0;
