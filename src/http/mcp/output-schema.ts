// The JSON Schema of a tool's result, read from its GraphQL document. Types and nulls are those of
// the GraphQL schema.
import { fromJsonSchema, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import {
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import type { Fields } from '../../upstream/json/is-fields.ts';

const SCALARS: Readonly<Record<string, string>> = { Int: 'integer', Float: 'number', Boolean: 'boolean' };

/** Fields of inline fragments and with directives may be missing. */
function selectedFields(schema: GraphQLSchema, typeName: string, { selections }: SelectionSetNode) {
  const properties: Record<string, Fields> = {};
  const required: string[] = [];
  const type = schema.getType(typeName);
  for (const node of selections) {
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const condition = node.typeCondition?.name.value ?? typeName;
      Object.assign(properties, selectedFields(schema, condition, node.selectionSet).properties);
    } else if (node.kind === Kind.FIELD && (isObjectType(type) || isInterfaceType(type))) {
      const field = type.getFields()[node.name.value];
      if (field === undefined) throw new Error(`${typeName} has no field ${node.name.value}.`);
      properties[node.name.value] = typeSchema(schema, field.type, node.selectionSet);
      if (node.directives?.length === 0) required.push(node.name.value);
    }
  }
  return { properties, required };
}

function typeSchema(schema: GraphQLSchema, given: GraphQLOutputType, selection?: SelectionSetNode): Fields {
  const type = getNullableType(given);
  const withNull = (name: string) => ({ type: isNonNullType(given) ? name : [name, 'null'] });
  if (isListType(type)) return { ...withNull('array'), items: typeSchema(schema, type.ofType, selection) };
  if (selection !== undefined)
    return { ...withNull('object'), ...selectedFields(schema, type.name, selection) };
  return type.name === 'JSON' ? {} : withNull(SCALARS[type.name] ?? 'string');
}

/** The schema of the result of a document's one root field, or of an entry where it is a list. */
export function outputSchema(
  schema: GraphQLSchema,
  document: string,
): StandardSchemaWithJSON<unknown, Fields> {
  const [operation] = parse(document).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('A tool has one operation.');
  const root = schema.getRootType(operation.operation)?.name ?? '';
  const { properties } = selectedFields(schema, root, operation.selectionSet);
  const [found = {}] = Object.values(properties);
  const { items = found } = found;
  const entry = Object(items);
  return fromJsonSchema<Fields>({
    type: 'object',
    required: entry.required,
    properties: {
      ...entry.properties,
      problems: { type: 'array', items: { type: 'string' }, description: 'What could not be loaded.' },
      more: { type: 'string', description: 'What was left out, and how to ask for it.' },
    },
  });
}
