// The reader of SMILES beside Debian's RDKit and Open Babel: it refuses nothing that RDKit reads,
// and counts the same heavy atoms and molecules.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanSmiles, writtenAtoms } from '../../../src/submission/smiles.ts';
import { READABLE, UNREADABLE } from '../../folding/smiles-lists.ts';
import { runs } from '../../property-runs.ts';

/** Debian's packages belong to Debian's Python, which need not be the first one of the path. */
const PYTHON = '/usr/bin/python3';

interface Reading {
  /** Whether the syntax is right. */
  readonly reads: boolean;
  /** Whether valences and aromaticity are right as well. */
  readonly accepts: boolean;
  readonly heavyAtoms: number;
  readonly moleculeCount: number;
}

const PROGRAM = `
import json, sys
from rdkit import Chem, RDLogger
RDLogger.DisableLog('rdApp.*')
def read(smiles):
    mol = Chem.MolFromSmiles(smiles, sanitize=False)
    if mol is None or mol.GetNumAtoms() == 0:
        return dict(reads=False, accepts=False, heavyAtoms=0, moleculeCount=0)
    return dict(
        reads=True,
        accepts=Chem.MolFromSmiles(smiles) is not None,
        heavyAtoms=sum(atom.GetAtomicNum() != 1 for atom in mol.GetAtoms()),
        moleculeCount=len(Chem.GetMolFrags(mol)))
json.dump([read(smiles) for smiles in json.load(sys.stdin)], sys.stdout)
`;

const readByRdkit = (list: readonly string[]): readonly Reading[] =>
  JSON.parse(
    execFileSync(PYTHON, ['-c', PROGRAM], {
      input: JSON.stringify(list),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    }),
  );

const hasRdkit = (): boolean => {
  try {
    execFileSync(PYTHON, ['-c', 'import rdkit'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const PIECES = (
  'C C C c N n O o S s Cl Br F I B P b p * [NH4+] [13C] [H] [C@H] [C@@] [nH] [Fe+2] [se] X ] l ( ) ( ) 1 2 %10 ' +
  '%(3) 3 = # - . / \\ \\\\ : $ ~ -> <- + @ [Cu@SP1] [C@TB7] [O-] [#7] [*:2] [2H] [te] [H+] [NH3+] [CH-] %1 0 [C [R1]'
).split(' ');
const anyText = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 10 })
  .map((pieces) => pieces.join(''));

describe.skipIf(!process.env.CI && !hasRdkit())('beside RDKit', () => {
  it('reads all of the 66 that are right, valences and aromaticity included', () => {
    const list = Object.values(READABLE).flat();
    const readings = readByRdkit(list);
    expect(list.filter((_, k) => readings[k]?.accepts !== true)).toEqual([]);
  });

  it('reads none of those that no toolkit reads', () => {
    const readings = readByRdkit(UNREADABLE);
    expect(UNREADABLE.filter((_, k) => readings[k]?.reads !== false)).toEqual([]);
  });

  it('refuses nothing that RDKit reads, and counts alike', () => {
    const list = fc.sample(anyText, runs(20_000));
    const readings = readByRdkit(list);
    expect(readings.filter(({ reads }) => reads).length).toBeGreaterThan(list.length / 20);
    const different = list.flatMap((smiles, k) => {
      const theirs = readings[k];
      const { fault, moleculeCount } = scanSmiles(smiles);
      const heavyAtoms = writtenAtoms(smiles).length;
      if (theirs?.reads !== true) return [];
      const isSame = heavyAtoms === theirs.heavyAtoms && moleculeCount === theirs.moleculeCount;
      return fault === undefined && isSame ? [] : [{ smiles, fault, heavyAtoms, moleculeCount, theirs }];
    });
    expect(different).toEqual([]);
  });
});

describe.skipIf(!process.env.CI && !existsSync('/usr/bin/obabel'))('beside Open Babel', () => {
  it('reads none of those that no toolkit reads', () => {
    const read = UNREADABLE.filter(
      (smiles) =>
        execFileSync('obabel', [`-:${smiles}`, '-ocan'], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }) !== '',
    );
    expect(read).toEqual([]);
  });
});
