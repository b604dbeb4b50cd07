// Sparse activations name features and residues by whole numbers: one that is none is no feature 0.
import { describe, expect, it } from 'vitest';
import { readMatrix, readVector } from '../../src/upstream/archive/sparse-activations.ts';
import { parseJsonText } from '../../src/upstream/json/parse-json.ts';

const NO_INDEX = ['NaN', 'null', '1.5', '-1', '1e999', '"7"'];

describe('sparse activations', () => {
  it.each(NO_INDEX)('of a protein are not read where an index is %s', (index) => {
    for (const indices of [`[${index},7]`, `[[${index},7]]`])
      expect(readVector(parseJsonText(`{"indices":${indices},"values":[3,2]}`))).toBeUndefined();
  });

  it.each(NO_INDEX)('along a sequence are not read where a feature or a residue is %s', (index) => {
    for (const indices of [`[[${index},7],[1,2]]`, `[[1,2],[${index},7]]`])
      expect(readMatrix(parseJsonText(`{"indices":${indices},"values":[3,2]}`))).toBeUndefined();
  });

  it('with a value that is no number say that the feature is not active', () => {
    expect(readVector(parseJsonText('{"indices":[4,7],"values":[NaN,2]}'))).toEqual({
      indices: [4, 7],
      values: [0, 2],
    });
  });
});
