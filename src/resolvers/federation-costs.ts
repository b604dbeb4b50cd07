// Costs as @cost and @listSize, for routers that limit what a query costs. They know neither
// arguments nor selections, so a weight is that of the default arguments with all fields selected,
// and a call that fields of one object share counts at each of them.
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';
import { COST, type CostSelection, type FieldCost, isCostRule } from '../schema/query-cost.ts';

type Field = GraphQLField<unknown, unknown>;

const objectFields = (type: GraphQLOutputType): Readonly<Record<string, Field>> => {
  const named = getNamedType(type);
  return isObjectType(named) ? named.getFields() : {};
};

const selectAll = (fields: Readonly<Record<string, Field>>): CostSelection => ({
  names: new Set(Object.keys(fields)),
  below: (name) => selectAll(fields[name] === undefined ? {} : objectFields(fields[name].type)),
});

function usualCost({ extensions, args, type }: Field): FieldCost {
  const rule = extensions[COST];
  if (!isCostRule(rule)) return {};
  if (typeof rule === 'number') return { calls: rule };
  if (typeof rule === 'object') return rule;
  try {
    const defaults = args.map(({ name, defaultValue }) => [name, defaultValue]);
    return rule(Object.fromEntries(defaults), selectAll(objectFields(type)));
  } catch {
    // It counts an argument that has no default.
    return { calls: 1 };
  }
}

/** Calls for one object. A part of a call, the work of the gateway itself, counts as none. */
const toWeight = ({ calls = 0, shared, once }: FieldCost): number =>
  Math.round([calls, ...Object.values({ ...shared, ...once })].reduce((sum, one) => sum + one, 0));

const isList = (type: GraphQLOutputType): boolean => isListType(getNullableType(type));

/** Lists below a field whose length the field decides, such as the edges of a connection. */
const sizedFields = ({ type }: Field): string[] =>
  Object.values(objectFields(type))
    .filter((below) => isList(below.type) && isCompositeType(getNamedType(below.type)))
    .filter((below) => usualCost(below).items === undefined)
    .map(({ name }) => name);

function listSize(field: Field, { items }: FieldCost): object | undefined {
  const first = field.args.find(({ name }) => name === 'first');
  const sized = isList(field.type) ? [] : sizedFields(field);
  if ((items === undefined && first === undefined) || (sized.length === 0 && !isList(field.type)))
    return undefined;
  return {
    // A router knows the length from the default of the argument, and WunderGraph's composer
    // refuses a second one.
    ...(items === undefined || first?.defaultValue !== undefined ? {} : { assumedSize: items }),
    ...(first !== undefined ? { slicingArguments: ['first'], requireOneSlicingArgument: false } : {}),
    ...(sized.length > 0 ? { sizedFields: sized } : {}),
  };
}

/** The schema with the directives in the extensions of its fields. */
export const withCostDirectives = (schema: GraphQLSchema): GraphQLSchema =>
  mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: (config, name, typeName) => {
      const type = schema.getType(typeName);
      const field = isObjectType(type) ? type.getFields()[name] : undefined;
      if (field === undefined) return config;
      const cost = usualCost(field);
      const weight = toWeight(cost);
      const size = listSize(field, cost);
      const directives = {
        ...(weight > 0 ? { cost: { weight } } : {}),
        ...(size === undefined ? {} : { listSize: size }),
      };
      return { ...config, extensions: { ...config.extensions, directives } };
    },
  });
