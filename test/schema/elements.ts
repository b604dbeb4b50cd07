// Every element of a schema that can carry a description, in one list: types, fields, arguments,
// input fields, enum values and directives. What GraphQL itself defines is left out.
import {
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
} from 'graphql';

export interface Element {
  /** Such as `Protein.features(first: )`. */
  readonly path: string;
  readonly name: string;
  readonly description: string | null | undefined;
  readonly deprecationReason?: string | null | undefined;
  /** Name of its type, without list and non-null; undefined for what has none. */
  readonly type?: string;
  /** Whether it is given by a client. */
  readonly input?: boolean;
}

export function listElements(schema: GraphQLSchema): Element[] {
  const elements: Element[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    elements.push({ path: type.name, name: type.name, description: type.description });
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        const path = `${type.name}.${field.name}`;
        elements.push({ ...field, path, type: getNamedType(field.type).name });
        for (const arg of field.args) {
          elements.push({
            ...arg,
            path: `${path}(${arg.name}:)`,
            type: getNamedType(arg.type).name,
            input: true,
          });
        }
      }
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        elements.push({
          ...field,
          path: `${type.name}.${field.name}`,
          type: getNamedType(field.type).name,
          input: true,
        });
      }
    }
    if (isEnumType(type)) {
      for (const value of type.getValues()) elements.push({ ...value, path: `${type.name}.${value.name}` });
    }
  }
  for (const directive of schema.getDirectives().filter((one) => !isSpecifiedDirective(one))) {
    elements.push({ ...directive, path: `@${directive.name}` });
  }
  return elements;
}
