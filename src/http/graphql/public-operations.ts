// Tells before execution which operations have the same response for every caller, and for how
// long: those whose fields all declare that they are public. A field that declares nothing is
// private.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isUnionType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { publicField } from '../../schema/field-options.ts';

const DAY_SECONDS = 24 * 3600;

type Variables = Readonly<Record<string, unknown>>;
type Definition = GraphQLField<unknown, unknown>;

/** Whether a boolean argument is not set: null, false, or a variable without a value. */
function isOff(value: ValueNode, variables: Variables, defaults: ReadonlyMap<string, ValueNode>): boolean {
  if (value.kind === Kind.NULL) return true;
  if (value.kind === Kind.BOOLEAN) return !value.value;
  if (value.kind !== Kind.VARIABLE) return false;
  const given = variables[value.name.value];
  if (given !== undefined) return given === null || given === false;
  const defaultValue = defaults.get(value.name.value);
  return defaultValue === undefined || isOff(defaultValue, {}, new Map());
}

/** A response in parts is made for one client. */
const isIncremental = ({ directives = [] }: SelectionNode): boolean =>
  directives.some(({ name }) => name.value === 'defer' || name.value === 'stream');

/** The definitions that a field may resolve to: of its type, and of each possible type of it. */
function findDefinitions(
  schema: GraphQLSchema,
  parent: GraphQLCompositeType,
  name: string,
): (Definition | undefined)[] {
  const possible = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [];
  const own = isUnionType(parent) ? [] : [parent];
  return [...own, ...possible].map((type) => type.getFields()[name]);
}

/**
 * Seconds that the response to a valid document may be stored and shared, by its variables; null
 * for not at all. Skipped fields and other operations of the document count as well.
 *
 * @param recordSeconds - CACHE_RECORDS_SECONDS
 */
export function publicLifetime(
  schema: GraphQLSchema,
  document: DocumentNode,
  recordSeconds: number,
): (variables: Variables) => number | null {
  const seconds = { release: DAY_SECONDS, record: recordSeconds };
  const lifetimes: (number | undefined)[] = [];
  const switches: ValueNode[] = [];
  const defaults = new Map<string, ValueNode>();
  let isPublic = true;

  function readField(field: FieldNode, parent: GraphQLCompositeType): void {
    const { name, arguments: given = [], selectionSet } = field;
    if (name.value === '__typename') return;
    const definitions = findDefinitions(schema, parent, name.value);
    for (const definition of definitions) {
      const declared = definition && publicField(definition);
      lifetimes.push(declared && seconds[declared.lifetime]);
      for (const argument of given)
        if (declared?.privateWith.includes(argument.name.value) === true) switches.push(argument.value);
    }
    const [definition] = definitions;
    if (selectionSet !== undefined) readSelection(selectionSet, definition && getNamedType(definition.type));
  }

  /** Fragments that are spread are read where they are defined. */
  function readSelection(
    { selections }: SelectionSetNode,
    parent: GraphQLNamedType | null | undefined,
  ): void {
    if (!isCompositeType(parent)) isPublic = false;
    for (const node of selections) {
      if (isIncremental(node)) isPublic = false;
      if (!isPublic || !isCompositeType(parent)) return;
      if (node.kind === Kind.FIELD) readField(node, parent);
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition: on } = node;
        readSelection(node.selectionSet, on === undefined ? parent : schema.getType(on.name.value));
      }
    }
  }

  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION)
      readSelection(node.selectionSet, schema.getType(node.typeCondition.name.value));
    else if (node.kind === Kind.OPERATION_DEFINITION) {
      if (node.operation !== OperationTypeNode.QUERY) isPublic = false;
      for (const { variable, defaultValue } of node.variableDefinitions ?? [])
        if (defaultValue !== undefined) defaults.set(variable.name.value, defaultValue);
      readSelection(node.selectionSet, schema.getRootType(node.operation));
    }
  }
  if (!isPublic || lifetimes.includes(undefined)) return () => null;
  const shortest = lifetimes.reduce<number>((least, one = 0) => Math.min(least, one), DAY_SECONDS);
  return (variables) => (switches.every((value) => isOff(value, variables, defaults)) ? shortest : null);
}
