// Reads the `@stream` directive: of a document's only list, and of a field.
import { GraphQLStreamDirective } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type GraphQLResolveInfo,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { documentFacts, PARTS } from './document-facts.ts';

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

/** Whether items of a field are parts of their own. */
export const isStreamed = (info: GraphQLResolveInfo): boolean => streamOf(info) !== undefined;

/** Whether the items of a root field are given as they come. */
export const hasStreamDirective = (info: GraphQLResolveInfo): boolean => streamOfRoot(info) !== undefined;

/** Whether they are so from the first on. */
export const isStreamedFromFirst = (info: GraphQLResolveInfo): boolean =>
  streamOfRoot(info)?.initialCount === 0;
