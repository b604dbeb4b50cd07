// A field that costs a call of its own is nullable, so that its failure leaves its siblings alone.
import { isNonNullType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/resolvers/schema.ts';

const ATLAS = ['Protein', 'Cluster', 'Feature', 'FeatureActivation', 'FeatureExemplar', 'UniprotEntry'];

it('every field of the Atlas that costs calls of its own is nullable', () => {
  const costly = ATLAS.map((name) => schema.getType(name))
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).map((field) => ({ path: `${type.name}.${field.name}`, field })),
    )
    .filter(({ field: { extensions } }) => {
      const { cost } = extensions;
      // A part of a call is the work of the gateway itself.
      return typeof cost === 'number' ? cost >= 1 : cost !== undefined;
    });
  expect(costly.length).toBeGreaterThan(20);
  expect(costly.filter(({ field }) => isNonNullType(field.type)).map(({ path }) => path)).toEqual([]);
});
