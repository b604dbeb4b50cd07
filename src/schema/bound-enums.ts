// Refuses a text that is longer than any value of an enum: graphql-js would compare it with each
// value, letter by letter, to suggest one.
import { type GraphQLSchema, isEnumType, Kind } from 'graphql';
import { badInput } from './scalars.ts';

/** Changes the enums of a schema; schemas that are made of its types have them, too. */
export function boundEnums(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isEnumType(type)) continue;
    const { parseValue, parseLiteral } = type;
    const maxLength = 2 * Math.max(...type.getValues().map(({ name }) => name.length));
    const checkLength = (text: unknown): void => {
      if (typeof text === 'string' && text.length > maxLength)
        throw badInput(`The text has ${text.length} characters and is no value of ${type.name}.`);
    };
    type.parseValue = (value) => {
      checkLength(value);
      return parseValue.call(type, value);
    };
    type.parseLiteral = (node, variables) => {
      if (node.kind === Kind.ENUM) checkLength(node.value);
      return parseLiteral.call(type, node, variables);
    };
  }
}
