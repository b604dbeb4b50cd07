// What is the same for every object of a type in an execution: its fields, their resolvers and
// shapes. Planned once per selection, and cached with the document where no variable decides.
import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type ValueNode,
  visit,
} from 'graphql';
import { collectedFields, type Operation, type SelectionContext } from './collect-fields.ts';

/** A type as values are completed by it. */
export type OutputShape =
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType }
  | { readonly kind: 'list'; readonly of: OutputShape }
  | { readonly kind: 'nonNull'; readonly of: OutputShape };

export type Args = Readonly<Record<string, unknown>>;

/** A resolver that takes three arguments at most. */
export type ResolverWithoutInfo = (source: unknown, args: Args, context: unknown) => unknown;

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
  /**
   * The arguments, where they are the same in every run; undefined before first use or with
   * variables.
   */
  args: Args | undefined;
  readonly usesVariables: boolean;
}

const isVariable = (value: ValueNode): boolean => {
  if (value.kind === Kind.LIST) return value.values.some(isVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => isVariable(field.value));
  return value.kind === Kind.VARIABLE;
};

/** Whether anything of a field itself, not of what is below it, is left to variables. */
const usesVariables = ({ arguments: given = [] }: FieldNode): boolean =>
  given.some(({ value }) => isVariable(value));

/** A run's own arguments of fields, which many objects share. */
export type VariableArgs = Map<PlannedField, Args>;

/** The arguments of a field in a run. @throws GraphQLError for invalid arguments, on each call */
export function argsOf(field: PlannedField, own: VariableArgs, variables: Operation['variableValues']): Args {
  const known = field.args ?? own.get(field);
  if (known !== undefined) return known;
  const [node] = field.nodes;
  const args = node === undefined ? NO_ARGS : getArgumentValues(field.definition, node, variables);
  if (field.usesVariables) own.set(field, args);
  else field.args = args;
  return args;
}

/** The planned fields below some nodes, by the type that they are read as. */
type Plans = Map<readonly FieldNode[], Map<GraphQLObjectType, readonly PlannedField[]>>;

/** A document, taken apart. */
export interface CompiledDocument {
  readonly schema: GraphQLSchema;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: Record<string, FragmentDefinitionNode>;
  /** For all of its runs; undefined where a directive may leave something out of one of them. */
  readonly plans: Plans | undefined;
  /** The fields of an operation itself, once they are known. */
  readonly fields: Map<OperationDefinitionNode, readonly PlannedField[]>;
}

const prepared = new WeakMap<DocumentNode, CompiledDocument>();

function hasDirective(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive() {
      found = true;
    },
  });
  return found;
}

/** Takes a document apart; the same whenever asked. */
export function prepare(schema: GraphQLSchema, document: DocumentNode): CompiledDocument {
  const known = prepared.get(document);
  if (known?.schema === schema) return known;
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  const operations: OperationDefinitionNode[] = [];
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
    else if (node.kind === Kind.OPERATION_DEFINITION) operations.push(node);
  }
  const plans: Plans | undefined = hasDirective(document) ? undefined : new Map();
  const made: CompiledDocument = { schema, operations, fragments, plans, fields: new Map() };
  prepared.set(document, made);
  return made;
}

/** The operation of a name, or the only one; undefined where there is none. */
export function operationOf(
  { operations }: CompiledDocument,
  name: string | null | undefined,
): OperationDefinitionNode | undefined {
  if (name != null) return operations.find((operation) => operation.name?.value === name);
  return operations.length === 1 ? operations[0] : undefined;
}

const NO_ARGS: Args = Object.freeze({});

const shapes = new WeakMap<GraphQLOutputType, OutputShape>();

function makeShape(type: GraphQLOutputType): OutputShape {
  if (isNonNullType(type)) return { kind: 'nonNull', of: shapeOf(type.ofType) };
  if (isListType(type)) return { kind: 'list', of: shapeOf(type.ofType) };
  if (isLeafType(type)) return { kind: 'leaf', type };
  return isAbstractType(type) ? { kind: 'abstract', type } : { kind: 'object', type };
}

/** The shape of a type; the same whenever asked. */
function shapeOf(type: GraphQLOutputType): OutputShape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const made = makeShape(type);
  shapes.set(type, made);
  return made;
}

const briefs = new WeakMap<object, ResolverWithoutInfo | null>();

/** Detects resolvers that cannot read `info`: fewer than four parameters and no rest parameter. */
function detectUnusedInfo(resolve: GraphQLFieldResolver<unknown, unknown>): ResolverWithoutInfo | null {
  if (resolve.length > 3 || /\.\.\.|\barguments\b|\[native code\]/.test(String(resolve))) return null;
  return resolve as ResolverWithoutInfo;
}

/** The `resolveType` of an abstract type reads `info`, too. */
const isAbstract = (shape: OutputShape): boolean =>
  shape.kind === 'abstract' || ('of' in shape && isAbstract(shape.of));

function briefOf(
  resolve: GraphQLFieldResolver<unknown, unknown>,
  shape: OutputShape,
): ResolverWithoutInfo | undefined {
  if (isAbstract(shape)) return undefined;
  const known = briefs.get(resolve);
  const brief = known === undefined ? detectUnusedInfo(resolve) : known;
  if (known === undefined) briefs.set(resolve, brief);
  return brief ?? undefined;
}

function leafOf(shape: OutputShape): GraphQLLeafType | undefined {
  const inner = shape.kind === 'nonNull' ? shape.of : shape;
  return inner.kind === 'leaf' ? inner.type : undefined;
}

function definitionOf(
  schema: GraphQLSchema,
  parent: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  const isRoot = parent === schema.getQueryType();
  if (isRoot && name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (isRoot && name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return parent.getFields()[name];
}

/** The fields that are selected on an object type below some nodes. */
export function plannedFields(
  operation: Operation,
  parent: GraphQLObjectType,
  nodes: readonly SelectionContext[],
): PlannedField[] {
  const planned: PlannedField[] = [];
  for (const [key, group] of collectedFields(operation, parent, nodes)) {
    const [first] = group;
    const definition = first && definitionOf(operation.schema, parent, first.name.value);
    // As graphql-js does: what validation has not seen is left out.
    if (first === undefined || definition === undefined) continue;
    const resolve = definition.resolve ?? defaultFieldResolver;
    const shape = shapeOf(definition.type);
    planned.push({
      key,
      nodes: group,
      parent,
      definition,
      resolve,
      brief: briefOf(resolve, shape),
      shape,
      leaf: leafOf(shape),
      args: definition.args.length === 0 ? NO_ARGS : undefined,
      usesVariables: usesVariables(first),
    });
  }
  return planned;
}
