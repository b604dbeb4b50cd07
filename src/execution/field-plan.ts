// The fields selected below some nodes for one object type (CollectSubfields of the GraphQL
// specification), and what is the same of them for every object of the type: their resolvers and
// shapes. Planned once per selection, and cached with the document where no variable decides.
import { doesFragmentConditionMatch, memoize1, memoize2, shouldIncludeNode } from '@graphql-tools/utils';
import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { documentFacts } from './document-facts.ts';

export type Operation = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A field, or an operation. */
export interface SelectionContext {
  readonly selectionSet?: SelectionSetNode | undefined;
}

/**
 * The nodes of each selected field, by the name that it has in the answer. Fragments with `@defer` count
 * as selected.
 */
export function collectedFields(
  { schema, fragments, variableValues }: Operation,
  type: GraphQLObjectType,
  nodes: readonly SelectionContext[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  const variables = { coerced: variableValues, sources: {} };
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      if (!shouldIncludeNode(variables, node)) continue;
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        const known = fields.get(key);
        if (known === undefined) fields.set(key, [node]);
        else known.push(node);
        continue;
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
      if (fragment === undefined || !doesFragmentConditionMatch(schema, fragment, type)) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD && seen.size === seen.add(node.name.value).size) continue;
      collect(fragment.selectionSet);
    }
  };
  for (const { selectionSet } of nodes) if (selectionSet !== undefined) collect(selectionSet);
  return fields;
}

/** A type as values are completed by it. */
export type OutputShape =
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType }
  | { readonly kind: 'list'; readonly of: OutputShape }
  | { readonly kind: 'nonNull'; readonly of: OutputShape };

/** Where a value stands in the answer. */
export type Path = GraphQLResolveInfo['path'];

export type Args = Readonly<Record<string, unknown>>;

/** A resolver that takes three arguments at most. */
type ResolverWithoutInfo = (source: unknown, args: Args, context: unknown) => unknown;

/** A field of an object, once for all objects of the type. */
export interface PlannedField {
  /** By which it stands in the answer. */
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  /** The resolver, called without `info` because it does not read it. */
  readonly brief: ResolverWithoutInfo | undefined;
  readonly shape: OutputShape;
  /** Its type, where that is a leaf. */
  readonly leaf: GraphQLLeafType | undefined;
}

/** The planned fields of an operation, or below the nodes of a field, by the type that they are read as. */
export type Plans = Map<object, Map<GraphQLObjectType, readonly PlannedField[]>>;

/** The plans of all runs of a document; new ones where a directive may leave something out. */
export function plansOf(schema: GraphQLSchema, document: DocumentNode): Plans {
  return documentFacts(document).directives.length === 0 ? sharedPlans(schema, document) : new Map();
}
const sharedPlans = memoize2((_schema: GraphQLSchema, _document: DocumentNode): Plans => new Map());

/** The shape of a type; the same whenever asked. */
const shapeOf = memoize1((type: GraphQLOutputType): OutputShape => {
  if (isNonNullType(type)) return { kind: 'nonNull', of: shapeOf(type.ofType) };
  if (isListType(type)) return { kind: 'list', of: shapeOf(type.ofType) };
  if (isLeafType(type)) return { kind: 'leaf', type };
  return isAbstractType(type) ? { kind: 'abstract', type } : { kind: 'object', type };
});

/** Whether a resolver cannot read `info`: fewer than four parameters and no rest parameter. */
const isBrief = memoize1(
  (resolve: GraphQLFieldResolver<unknown, unknown>): boolean =>
    resolve.length <= 3 && !/\.\.\.|\barguments\b|\[native code\]/.test(String(resolve)),
);

function definitionOf(
  schema: GraphQLSchema,
  parent: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  const metaFields = parent === schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
  return metaFields.find((field) => field.name === name) ?? parent.getFields()[name];
}

/** The fields that are selected on an object type below some nodes. */
export function plannedFields(
  operation: Operation,
  parent: GraphQLObjectType,
  nodes: readonly SelectionContext[],
): PlannedField[] {
  const planned: PlannedField[] = [];
  for (const [key, group] of collectedFields(operation, parent, nodes)) {
    const definition = definitionOf(operation.schema, parent, group[0]?.name.value ?? '');
    // As graphql-js does: what validation has not seen is left out.
    if (definition === undefined) continue;
    const resolve = definition.resolve ?? defaultFieldResolver;
    const shape = shapeOf(definition.type);
    const inner = shape.kind === 'nonNull' ? shape.of : shape;
    const leaf = inner.kind === 'leaf' ? inner.type : undefined;
    const brief = isBrief(resolve) ? (resolve as ResolverWithoutInfo) : undefined;
    planned.push({ key, nodes: group, parent, definition, resolve, brief, shape, leaf });
  }
  return planned;
}

export const pathOf = ({ key, parent }: PlannedField, prev: Path | undefined): Path => ({
  prev,
  key,
  typename: parent.name,
});

/** The path of the field that a place in a list belongs to. */
export const fieldPathOf = (path: Path): Path =>
  path.typename === undefined && path.prev !== undefined ? fieldPathOf(path.prev) : path;
