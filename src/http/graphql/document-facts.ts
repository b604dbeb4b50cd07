// What a document says of itself, read in one walk for all that ask: limits, delivery and
// execution.
import { memoize1 } from '@graphql-tools/utils';
import {
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
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
