// All members of a union can be selected in one query, field by field under the same name, as front
// ends and generated code do.
import {
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  getNamedType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  OverlappingFieldsCanBeMergedRule,
  parse,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/resolvers/schema.ts';

const DEPTH = 3;

/** Selects everything of a type that is not deprecated, and what lies below it. */
function writeSelection(type: GraphQLNamedType, depth: number): string {
  if (!isObjectType(type)) return '{ __typename }';
  const fields = Object.values(type.getFields()).flatMap((field) => {
    if (field.deprecationReason != null || field.args.some(isRequiredArgument)) return [];
    const below = getNamedType(field.type);
    if (!isCompositeType(below)) return [field.name];
    return [`${field.name} ${depth === 0 ? '{ __typename }' : writeSelection(below, depth - 1)}`];
  });
  return `{ __typename ${fields.join(' ')} }`;
}

/** Why the members of a union cannot be selected together. */
function findConflicts(union: GraphQLUnionType): string[] {
  const query = new GraphQLObjectType({ name: 'Query', fields: { union: { type: union } } });
  const selections = union.getTypes().map((type) => `... on ${type.name} ${writeSelection(type, DEPTH)}`);
  const document = parse(`{ union { ${selections.join('\n')} } }`, { noLocation: true });
  return validate(new GraphQLSchema({ query }), document, [OverlappingFieldsCanBeMergedRule]).map(
    ({ message }) => message,
  );
}

const unions = Object.values(schema.getTypeMap()).filter(isUnionType);

describe('the members of a union', () => {
  it.each(unions.map((union) => [union.name, union] as const))('can be selected together: %s', (_, union) => {
    expect(findConflicts(union)).toEqual([]);
  });

  it('are found out where they cannot', () => {
    const fold = schema.getType('FoldSubmitted');
    const batch = schema.getType('Batch');
    if (!isObjectType(fold) || !isObjectType(batch)) throw new Error('The types were renamed.');
    const other = new GraphQLObjectType({ name: 'Other', fields: { batch: { type: batch } } });
    const union = new GraphQLUnionType({ name: 'U', types: [fold, other] });
    expect(findConflicts(union)).toEqual([expect.stringContaining('return conflicting types')]);
  });
});
