// What of a query's execution is the same for every object of a type: which fields, by which functions, of which shape. A list of a hundred
// objects works it out once. It runs nothing and knows no type of ours.
import {
  defaultFieldResolver,
  type FieldNode,
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
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { collectedFields, type Operation, type Selecting } from './collected-fields.ts';

/** A type as values are completed by it. */
export type Shape =
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'nonNull'; readonly of: Shape };

export type Args = Readonly<Record<string, unknown>>;

/** A resolver that takes three arguments at most. */
export type Brief = (source: unknown, args: Args, context: unknown) => unknown;

/** A field of an object, once for all objects of the type. */
export interface PlannedField {
  /** By which it stands in the answer. */
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly parent: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  /** The same, where nobody looks at what it is told of the execution. */
  readonly brief: Brief | undefined;
  readonly shape: Shape;
  /** Its type, where that is a leaf. */
  readonly leaf: GraphQLLeafType | undefined;
  /** Its arguments. @throws GraphQLError where they are not what the field takes, each time that they are asked for */
  args(): Args;
}

const NO_ARGS: Args = Object.freeze({});

const shapes = new WeakMap<GraphQLOutputType, Shape>();

function makeShape(type: GraphQLOutputType): Shape {
  if (isNonNullType(type)) return { kind: 'nonNull', of: shapeOf(type.ofType) };
  if (isListType(type)) return { kind: 'list', of: shapeOf(type.ofType) };
  if (isLeafType(type)) return { kind: 'leaf', type };
  return isAbstractType(type) ? { kind: 'abstract', type } : { kind: 'object', type };
}

/** The shape of a type; the same whenever asked. */
function shapeOf(type: GraphQLOutputType): Shape {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const made = makeShape(type);
  shapes.set(type, made);
  return made;
}

const briefs = new WeakMap<object, Brief | null>();

/** A resolver that has no parameter for it cannot see what it is told of the execution, unless it takes all arguments as they come. */
function makeBrief(resolve: GraphQLFieldResolver<unknown, unknown>): Brief | null {
  if (resolve.length > 3 || /\.\.\.|\barguments\b|\[native code\]/.test(String(resolve))) return null;
  return resolve as Brief;
}

/** What is known of an abstract type is told to the function that says which type a value has. */
const isAbstract = (shape: Shape): boolean =>
  shape.kind === 'abstract' || ('of' in shape && isAbstract(shape.of));

function briefOf(resolve: GraphQLFieldResolver<unknown, unknown>, shape: Shape): Brief | undefined {
  if (isAbstract(shape)) return undefined;
  const known = briefs.get(resolve);
  const brief = known === undefined ? makeBrief(resolve) : known;
  if (known === undefined) briefs.set(resolve, brief);
  return brief ?? undefined;
}

function leafOf(shape: Shape): GraphQLLeafType | undefined {
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
  nodes: readonly Selecting[],
): PlannedField[] {
  const planned: PlannedField[] = [];
  for (const [key, group] of collectedFields(operation, parent, nodes)) {
    const [first] = group;
    const definition = first && definitionOf(operation.schema, parent, first.name.value);
    // As graphql-js does: what validation has not seen is left out.
    if (first === undefined || definition === undefined) continue;
    let args: Args | undefined = definition.args.length === 0 ? NO_ARGS : undefined;
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
      args() {
        args ??= getArgumentValues(definition, first, operation.variableValues);
        return args;
      },
    });
  }
  return planned;
}
