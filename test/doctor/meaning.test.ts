// What the doctor says a difference means in GraphQL names fields that exist, and misses none that the wire feeds.
import { isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { type AnswerName, isAnswerName, PROMISED } from '../../src/contract/answers.ts';
import { FIELD_BY_WIRE_KEY } from '../../src/contract/graphql-impact.ts';
import { shapeOf } from '../../src/contract/shape.ts';
import { schema } from '../../src/resolvers/schema.ts';

it('names fields of the schema', () => {
  const unknown = Object.values(FIELD_BY_WIRE_KEY)
    .flatMap((fields) => Object.values(fields))
    .filter((name) => {
      const [type = '', field = ''] = name.split('.');
      const found = schema.getType(type);
      return !isObjectType(found) || !Object.hasOwn(found.getFields(), field);
    });
  expect(unknown).toEqual([]);
});

it('knows every optional key of an answer', () => {
  const answers = Object.keys(FIELD_BY_WIRE_KEY).filter(
    (name): name is AnswerName => isAnswerName(name) && name !== 'features',
  );
  expect(answers.length).toBeGreaterThan(8);
  const missing = answers.flatMap((name) => {
    const { keys } = shapeOf(PROMISED[name].schema);
    const record = keys.get('data')?.shape.keys ?? keys;
    return [...record].flatMap(([key, { required }]) =>
      required || Object.hasOwn(FIELD_BY_WIRE_KEY[name] ?? {}, key) ? [] : [`${name}.${key}`],
    );
  });
  expect(missing).toEqual([]);
});
