// Input of the command line: JSON is read as JSON.parse reads it, with YAML's refusal of a key that stands twice.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseYaml } from '../../src/cli/parse-yaml.ts';
import { runs } from '../property-runs.ts';

it('JSON of any form is the value that was written', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseYaml(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: runs(200) },
  );
});

it.each([
  '{"a": 1, "a": 2}',
  '[{"b": {"\\"": 1, "\\"" : 2}}]',
  '{"a": "\\\\", "a":"x\\":"}',
])('a key that stands twice is refused: %s', (text) => {
  expect(() => parseYaml(text)).toThrow('unique');
});

it.each([
  'a: 1\nb: [x, "y: z"]',
  '- {a: {b: c}}',
  '{a: 1}',
  '{"a": 1,}',
  'true',
  '',
])('YAML is what the YAML parser reads: %s', (text) => {
  expect(parseYaml(text)).toEqual(parse(text));
});
