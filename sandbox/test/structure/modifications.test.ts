// Every modification of the table on its parent: new atoms under new names, each bonded, none on
// top of another.
import { describe, expect, it } from 'vitest';
import { fold } from '../../src/folding/fold.ts';
import { modificationParents } from '../../src/folding/modifications.ts';

const LETTER: Readonly<Record<string, string>> = {
  SER: 'S',
  THR: 'T',
  TYR: 'Y',
  MET: 'M',
  CYS: 'C',
  PRO: 'P',
  LYS: 'K',
  DC: 'C',
};

/** Atoms of the third residue of five, and the five names. */
async function third(type: 'protein' | 'rna' | 'dna', letter: string, ccd: string) {
  const flank = type === 'protein' ? ['GA', 'AG'] : ['GA', 'AC'];
  const sequence = `${flank[0]}${letter}${flank[1]}`;
  const outcome = await fold({
    model: 'foldmodel2-2026-05-cutoff-2025',
    input: { sequences: [{ type, sequence, modifications: ccd === '' ? null : [{ position: 2, ccd }] }] },
    repeatIndex: 0,
    includePae: false,
    includePairChainsIptm: false,
    includeEmbeddings: false,
  });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  const { complex } = outcome.result;
  const [start = 0, end = 0] = complex.token_to_atoms[2] ?? [];
  const atoms = complex.atom_names
    .slice(start, end)
    .map((name, k) => ({ name, at: complex.atom_positions[start + k] ?? [] }));
  return { name: complex.sequence[2], hetero: complex.atom_hetero.slice(start, end), atoms };
}

const apart = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((x, k) => x - (b[k] ?? 0)));

describe('modifications', () => {
  it.each(modificationParents())('%s on %s', async (code, parent) => {
    const type = parent.length === 3 ? 'protein' : parent.length === 2 ? 'dna' : 'rna';
    const letter = LETTER[parent] ?? parent;
    const plain = await third(type, letter, '');
    const changed = await third(type, letter, code);
    expect(plain.name).toBe(parent);
    expect(changed.name).toBe(code);
    expect(changed.hetero).not.toContain(false);
    const before = new Set(plain.atoms.map(({ name }) => name));
    const fresh = changed.atoms.filter(({ name }) => !before.has(name));
    expect(fresh.length).toBeGreaterThan(0);
    expect(new Set(changed.atoms.map(({ name }) => name)).size).toBe(changed.atoms.length);
    for (const one of fresh) {
      const near = changed.atoms.filter((other) => other !== one).map((other) => apart(other.at, one.at));
      expect(Math.min(...near)).toBeGreaterThan(1.2);
      expect(Math.min(...near)).toBeLessThan(2.1);
    }
  });

  it('keep the parent where the code belongs to another or to none', async () => {
    const plain = await third('protein', 'A', '');
    for (const code of ['SEP', 'XYZ']) {
      const kept = await third('protein', 'A', code);
      expect(kept.name).toBe(code);
      expect(kept.atoms.map(({ name }) => name)).toEqual(plain.atoms.map(({ name }) => name));
    }
  });
});
