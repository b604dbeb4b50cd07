// Any one field of any answer, renamed to anything: it is found, and the mapping that is proposed puts it right.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { type AnswerName, PROMISED } from '../../src/contract/answers.ts';
import { compare } from '../../src/contract/compare.ts';
import { readMapping } from '../../src/contract/mapping.ts';
import { pathsOf, shapeOf } from '../../src/contract/shape.ts';
import { fromWire, toWire } from '../../src/upstream/renames.ts';
import { runs } from '../property-runs.ts';
import { at } from '../support.ts';

const HASH = 'efebacde779fb9ede77f2039ec6cfe09';
const answers = new Map<AnswerName, unknown>();
/** Every field that these answers have, by answer and path. */
const fields: { name: AnswerName; path: string }[] = [];

type Fields = Record<string, unknown>;

/** The objects at a path of keys, `[]` and `*`. */
function objectsAt(value: unknown, steps: readonly string[]): Fields[] {
  const [step, ...rest] = steps;
  if (step === undefined)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value as Fields] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '[]' || step === '*') return Object.values(value).flatMap((one) => objectsAt(one, rest));
  return objectsAt((value as Fields)[step], rest);
}

const stepsOf = (path: string): string[] => path.replaceAll('[]', '.[]').split('.').filter(Boolean);

function rename(value: unknown, path: string, to: string): unknown {
  const copy = structuredClone(value);
  const steps = stepsOf(path);
  const key = steps.at(-1) ?? '';
  for (const one of objectsAt(copy, steps.slice(0, -1))) {
    if (!Object.hasOwn(one, key)) continue;
    one[to] = one[key];
    delete one[key];
  }
  return copy;
}

beforeAll(async () => {
  const sandbox = await startSandbox({ size: 'small' });
  const atlas = `${sandbox.url}/atlas/protein/api/v1alpha1`;
  const read = async (name: AnswerName, path: string) =>
    answers.set(name, await (await fetch(`${atlas}${path}`)).json());
  await read('feature', '/features/7');
  await read('protein', `/proteins/${HASH}?fold_on_miss=false&topk_features=3`);
  await read(
    'cluster',
    `/clusters/${at(answers.get('protein'), 'cluster_rep_protein_hash') ?? HASH}?topk_features=3`,
  );
  await read('uniprot', '/uniprot/P62736');
  await read(
    'similarity',
    `/similarity-search?sequence=${at(answers.get('protein'), 'sequence')}&topk_results=2`,
  );
  await sandbox.close();
  for (const [name, value] of answers) {
    for (const path of pathsOf(shapeOf(PROMISED[name].schema))) {
      const steps = stepsOf(path);
      const key = steps.at(-1) ?? '';
      const holders = objectsAt(value, steps.slice(0, -1)).filter((one) => Object.hasOwn(one, key));
      const told = holders.some((one) => one[key] !== null && JSON.stringify(one[key])?.length > 2);
      // A field that may be absent is not missed.
      if (told && PROMISED[name].rare?.includes(path) !== true) fields.push({ name, path });
    }
  }
});

describe('a field under another name', () => {
  it('is found, and repaired by what is proposed', () => {
    expect(fields.length).toBeGreaterThan(50);
    fc.assert(
      fc.property(
        fc.nat().map((n) => fields[n % fields.length] ?? { name: 'uniprot' as const, path: 'gene' }),
        fc.stringMatching(/^[a-z][A-Za-z_]{2,14}X$/),
        ({ name, path }, to) => {
          const value = answers.get(name);
          const promised = PROMISED[name];
          expect(compare(promised, value, { complete: true })).toEqual([]);
          const changed = rename(value, path, to);
          const drifts = compare(promised, changed, { complete: true });
          expect(drifts.map((drift) => [drift.kind, drift.path, drift.name])).toEqual([
            ['renamed', path, to],
          ]);
          const read = readMapping(JSON.stringify({ [name]: { [path]: to } }));
          if (!('mapping' in read)) throw new Error(read.problems.join('\n'));
          expect(fromWire(read.mapping, name, changed)).toEqual(value);
        },
      ),
      { numRuns: runs(40) },
    );
  });
});

describe('the mapping file', () => {
  it('says everything that is wrong with it at once, and what may be meant', () => {
    const read = readMapping(`
protien: { ptm: score }
protein: { mean_plddts: confidence, ptm: 7, "sae_features[].value": activation }
archive: { features.json: f.json }
uniprot: [gene]
`);
    expect(read).toEqual({
      problems: [
        'protien: there is no such operation; did you mean protein?',
        'protein: mean_plddts: there is no such place; did you mean mean_plddt?',
        'protein: ptm: must be the name that the service uses, as text',
        'uniprot: must be a map of paths to names',
      ],
    });
    expect(readMapping('a: [')).toMatchObject({ problems: [expect.stringContaining('is not YAML')] });
    expect(readMapping('')).toEqual({ mapping: {} });
  });

  it('is kept as it was written', () => {
    const content = {
      protein: {
        sae_features: 'features',
        'sae_features[].value': 'activation',
        'request.topk_features': 'k',
      },
      clusterInfo: { 'clusters.*.cluster_size': 'size' },
      archive: { 'sequences.fasta': 'seqs.fasta' },
    };
    expect(readMapping(JSON.stringify(content))).toEqual({ mapping: content });
  });

  it('puts back a list and its members, and names requests, leaving what is given as it was', () => {
    const read = readMapping(
      'protein: { sae_features: tops, "sae_features[].value": v }\nbulk: { request.include_features.per_residue: rows, request.include_features: what }',
    );
    if (!('mapping' in read)) throw new Error(read.problems.join('\n'));
    expect(fromWire(read.mapping, 'protein', { tops: [{ v: 1 }, { v: 2, value: 3 }] })).toEqual({
      sae_features: [{ value: 1 }, { v: 2, value: 3 }],
    });
    const request = { protein_hashes: [], include_features: { per_residue: true } };
    expect(toWire(read.mapping, 'bulk', request)).toEqual({ protein_hashes: [], what: { rows: true } });
    expect(request).toEqual({ protein_hashes: [], include_features: { per_residue: true } });
  });

  it('is not led astray by names that every object has', () => {
    const read = readMapping('uniprot: { gene: __proto__, organism: constructor }');
    if (!('mapping' in read)) throw new Error(read.problems.join('\n'));
    const answer: unknown = JSON.parse('{"accession":"P1","__proto__":"INS"}');
    expect(fromWire(read.mapping, 'uniprot', answer)).toEqual({ accession: 'P1', gene: 'INS' });
  });
});
