// How long the response cache may store the answer to a query: as long as its shortest-lived field,
// and only when every selected field is declared public (field-options.ts).
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isAbstractType,
  isUnionType,
  Kind,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { publicField } from '../../schema/field-options.ts';

const DAY_SECONDS = 24 * 3600;

type Variables = Readonly<Record<string, unknown>>;

/** Seconds that an answer to a document with these variables may be stored; null for not at all. */
export type CachePolicy = (variables: Variables) => number | null;

/** Whether a boolean argument is not set: null, false, or a variable without a value. */
function isOff(value: ValueNode, variables: Variables, defaults: ReadonlyMap<string, ValueNode>): boolean {
  if (value.kind === Kind.NULL) return true;
  if (value.kind === Kind.BOOLEAN) return !value.value;
  if (value.kind !== Kind.VARIABLE) return false;
  const given = variables[value.name.value];
  if (given !== undefined) return given === null || given === false;
  const usual = defaults.get(value.name.value);
  return usual === undefined || isOff(usual, {}, new Map());
}

/**
 * The definitions that a field may resolve to: of its type, and of each possible type of an
 * abstract one.
 */
function definitionsOf(
  schema: GraphQLSchema,
  parent: GraphQLCompositeType,
  name: string,
): (GraphQLField<unknown, unknown> | undefined)[] {
  const possible = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [];
  const own = isUnionType(parent) ? [] : [parent];
  return [...own, ...possible].map((type) => type.getFields()[name]);
}

const policies = new WeakMap<DocumentNode, CachePolicy>();

/**
 * The policy of a valid document, computed once. Skipped fields and other operations of the
 * document count, too.
 *
 * @param recordSeconds - CACHE_RECORDS_SECONDS
 */
export function cachePolicy(
  schema: GraphQLSchema,
  document: DocumentNode,
  recordSeconds: number,
): CachePolicy {
  const known = policies.get(document);
  if (known !== undefined) return known;
  const policy = readPolicy(schema, document, recordSeconds);
  policies.set(document, policy);
  return policy;
}

function readPolicy(schema: GraphQLSchema, document: DocumentNode, recordSeconds: number): CachePolicy {
  const seconds = { release: DAY_SECONDS, record: recordSeconds };
  let shortest: number | null = DAY_SECONDS;
  const switches: ValueNode[] = [];
  const defaults = new Map<string, ValueNode>();
  const types = new TypeInfo(schema);

  function readField({ name, arguments: given = [] }: FieldNode): void {
    const parent = types.getParentType();
    if (name.value === '__typename') return;
    for (const definition of parent == null ? [undefined] : definitionsOf(schema, parent, name.value)) {
      const declared = definition && publicField(definition);
      if (declared === undefined) shortest = null;
      else if (shortest !== null) shortest = Math.min(shortest, seconds[declared.lifetime]);
      for (const argument of given)
        if (declared?.privateWith.includes(argument.name.value) === true) switches.push(argument.value);
    }
  }

  visit(
    document,
    visitWithTypeInfo(types, {
      OperationDefinition: ({ operation }) => {
        if (operation !== 'query') shortest = null;
      },
      VariableDefinition: ({ variable, defaultValue }) => {
        if (defaultValue !== undefined) defaults.set(variable.name.value, defaultValue);
      },
      Field: readField,
    }),
  );
  return (variables) => (switches.every((value) => isOff(value, variables, defaults)) ? shortest : null);
}
