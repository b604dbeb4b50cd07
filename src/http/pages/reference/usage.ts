// Usages within a schema: fields that return or take a type, and examples that select a field.
import {
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Example } from '../examples.ts';

export interface Usage {
  /** Fields, as `Query.protein`, that answer a type, by its name. */
  readonly answeredBy: ReadonlyMap<string, readonly string[]>;
  /** Fields and input fields that take a type, by its name. */
  readonly takenBy: ReadonlyMap<string, readonly string[]>;
  /** Examples by the field that they ask for. */
  readonly examples: ReadonlyMap<string, readonly Example[]>;
}

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key) ?? [];
  if (!list.includes(value)) list.push(value);
  map.set(key, list);
}

/** Which examples ask for which field, with the field as `Protein.hash`. */
function examplesByField(schema: GraphQLSchema, examples: readonly Example[]): Map<string, Example[]> {
  const found = new Map<string, Example[]>();
  for (const example of examples) {
    const info = new TypeInfo(schema);
    const enter = () => {
      const parent = info.getParentType();
      const field = info.getFieldDef();
      if (parent && field) add(found, `${parent.name}.${field.name}`, example);
    };
    visit(parse(example.query), visitWithTypeInfo(info, { Field: { enter } }));
  }
  return found;
}

/** Reads a schema and the examples. */
export function usageOf(schema: GraphQLSchema, examples: readonly Example[]): Usage {
  const answeredBy = new Map<string, string[]>();
  const takenBy = new Map<string, string[]>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        add(takenBy, getNamedType(field.type).name, `${type.name}.${field.name}`);
    }
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      add(answeredBy, getNamedType(field.type).name, `${type.name}.${field.name}`);
      for (const { type: taken } of field.args)
        add(takenBy, getNamedType(taken).name, `${type.name}.${field.name}`);
    }
  }
  return { answeredBy, takenBy, examples: examplesByField(schema, examples) };
}
