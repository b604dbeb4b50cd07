// The files of structures as other programs read them: DSSP, gemmi, Biopython, RDKit, Open Babel
// and Mol*, and the dictionaries that mmCIF names. All from Debian: apt install
// dssp gemmi pdb-tools python3-gemmi python3-biopython openbabel python3-rdkit libcifpp-data
// tortoize voronota.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fold } from '../../../sandbox/src/folding/fold.ts';
import type { FoldAllAtomInput } from '../../../sandbox/src/folding/input.ts';
import { proteinPdb } from '../../../sandbox/src/structure/pdb.ts';
import { buildProtein } from '../../../sandbox/src/structure/protein.ts';
import { writeAtlasPdb } from '../../../src/structure/atlas-pdb.ts';
import type { DeclaredBond } from '../../../src/structure/fold/declared-bonds.ts';
import { writeFoldFile, writeMmcifWithPae } from '../../../src/structure/fold/files.ts';
import { readFoldingResult } from '../../../src/structure/fold/result.ts';
import { pdbToMmcif } from '../../../src/structure/pdb-to-mmcif.ts';
import { runs } from '../../property-runs.ts';
import { largeFold } from '../../structure/fold.ts';
import { oddInput } from '../../structure/odd-input.ts';
import { readCif } from '../../structure/read-cif.ts';
import { viewMmcif, viewPae, viewPdb } from './viewer.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('readers.py', import.meta.url));
/** Debian's own, which has the modules of its packages. */
const PYTHON = '/usr/bin/python3';
const PDBX = '/usr/share/libcifpp/mmcif_pdbx.dic';
/**
 * Debian's is 1.4.2; a newer one, such as mmcif_ma.dic of github.com/ihmwg/ModelCIF (CC0), by this
 * variable.
 */
const MODELCIF = process.env.MODELCIF_DICTIONARY ?? '/usr/share/libcifpp/mmcif_ma.dic';
const MISSING =
  process.env.CI === undefined &&
  ![PDBX, ...['mkdssp', 'pdb_fromcif', 'tortoize', 'voronota'].map((name) => `/usr/bin/${name}`)].every(
    (path) => existsSync(path),
  );

interface Read {
  readonly chains: Readonly<Record<string, readonly [name: string, number: number, elements: string[]][]>>;
}
interface Told {
  readonly gemmi: Read & { kinds: Record<string, string>; links: string[][]; b: number[] };
  readonly biopython: Read;
  readonly rdkit: { atoms: number; ligands: Record<string, [atoms: number, bonds: number]> } | null;
  readonly openBabel: number | null;
  readonly dssp: number | string | null;
  readonly faults: string[];
}

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tell = async (paths: readonly string[]): Promise<Record<string, Told>> => {
  const { stdout } = await run(PYTHON, [SCRIPT, `${PDBX}:${MODELCIF}`, ...paths], { maxBuffer: 2 ** 29 });
  return JSON.parse(stdout) as Record<string, Told>;
};

interface SentComplex {
  readonly sequence: readonly string[];
  readonly atom_elements: readonly string[];
  readonly token_to_atoms: readonly (readonly number[])[];
  readonly chain_id: readonly number[];
  readonly metadata: { readonly chain_lookup: object };
}

/**
 * The content of a result as readers should give it: the chains with their residues, and the
 * elements of their atoms.
 */
function sent({ complex }: { readonly complex: SentComplex }): Read['chains'] {
  const chains: Record<string, [string, number, string[]][]> = {};
  for (const [token, name] of complex.sequence.entries()) {
    const [start = 0, end = 0] = complex.token_to_atoms[token] ?? [];
    const id =
      Object.entries(complex.metadata.chain_lookup).find(
        ([c]) => Number(c) === complex.chain_id[token],
      )?.[1] ?? '';
    chains[id] ??= [];
    const elements = complex.atom_elements.slice(start, end).map((element) => element.toUpperCase());
    chains[id].push([name, chains[id].length + 1, elements]);
  }
  return chains;
}

const INSULIN =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN';
const ids = (count: number) => Array.from({ length: count }, (_, k) => `c${k}`);
const protein = (
  sequence: string,
  id: string | string[] = 'A',
  modifications: { position: number; ccd: string }[] = [],
) => ({
  type: 'protein' as const,
  id,
  sequence,
  modifications,
});

/** Folds of the sandbox by name, and how many of their residues are protein. */
const INPUTS: Readonly<Record<string, FoldAllAtomInput>> = {
  'one residue': { sequences: [protein('M')] },
  insulin: { sequences: [protein(INSULIN)] },
  'hundred chains': { sequences: [protein('MKTAYIAK', ids(100))] },
  modified: {
    sequences: [
      protein('MSTYKCPKMARNW', 'A', [
        ...['MSE', 'SEP', 'TPO', 'PTR', 'M3L', 'CSO', 'HYP', 'KCX'].map((ccd, position) => ({
          position,
          ccd,
        })),
        { position: 12, ccd: 'DTR' },
      ]),
    ],
  },
  nucleic: {
    sequences: [
      { type: 'rna', id: 'R', sequence: 'GGAUCCAU', modifications: [{ position: 2, ccd: 'A2M' }] },
      { type: 'dna', id: ['D', 'E'], sequence: 'GATTACA', modifications: [{ position: 5, ccd: '5CM' }] },
    ],
  },
  metals: {
    sequences: [
      protein('MKHHCAHLDE'),
      ...['MG', 'ZN', 'CA', 'NA', 'K', 'FE', 'FE2', 'MN', 'CU', 'NI', 'CO', 'CD', 'HG', 'CL', 'HEM'].map(
        (ccd, k) => ({
          type: 'ligand' as const,
          id: `M${k}`,
          ccd: [ccd],
        }),
      ),
    ],
  },
  glycan: {
    sequences: [protein('MKTNYSAKQR'), { type: 'ligand', id: 'G', ccd: ['NAG', 'NAG'] }],
    covalent_bonds: [
      { chain_id1: 'A', res_idx1: 3, atom_idx1: 7, chain_id2: 'G', res_idx2: 0, atom_idx2: 0 },
    ],
  },
  declared: {
    sequences: [protein('GKAHDGAH'), { type: 'ligand', id: 'Z', ccd: ['ZN'] }],
  },
  ccd: {
    sequences: [
      protein('MKTAYIAKQR'),
      ...['ATP', 'NAD', 'FAD', 'GOL', 'SO4'].map((ccd, k) => ({
        type: 'ligand' as const,
        id: `${k}`,
        ccd: [ccd],
      })),
    ],
  },
  smiles: {
    sequences: [
      protein('MKTAYIAKQR'),
      ...[
        'CC(=O)Oc1ccccc1C(=O)O',
        'C[C@H](N)C(=O)O',
        'C[C@@H](N)C(=O)O',
        'Clc1ccc(Br)cc1',
        'CS(=O)(=O)c1ccc(F)cc1',
      ].map((smiles, k) => ({ type: 'ligand' as const, id: `${k}`, smiles })),
    ],
  },
  complex: {
    sequences: [
      protein('MKTNYSAKQRGGTLNC', ['A', 'B'], [{ position: 5, ccd: 'SEP' }]),
      { type: 'rna', id: 'R', sequence: 'GGAUCC' },
      { type: 'dna', id: 'D', sequence: 'GATTACA' },
      { type: 'ligand', id: ['X', 'Y'], ccd: ['ATP'] },
      { type: 'ligand', id: 'Z', smiles: 'OCC(O)CO' },
      { type: 'ligand', id: 'M', ccd: ['MG'] },
    ],
  },
};

const atom = (chainId: string, residueIndex: number, atomName: string) => ({
  ...{ chainId, residueIndex, atomName },
  atomIndex: 0,
});
/** Bonds that the sandbox leaves open: an isopeptide, a ring, a metal. */
const DECLARED: readonly DeclaredBond[] = [
  { from: atom('A', 1, 'NZ'), to: atom('A', 4, 'CG') },
  { from: atom('A', 0, 'N'), to: atom('A', 7, 'C') },
  { from: atom('A', 3, 'NE2'), to: atom('Z', 0, 'ZN') },
];

async function folded(input: FoldAllAtomInput, includePae = false) {
  const outcome = await fold({
    model: 'foldmodel',
    input,
    repeatIndex: 0,
    includePae,
    includePairChainsIptm: false,
    includeEmbeddings: false,
  });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return { ...outcome.result, complex: { atom_elements: [], ...outcome.result.complex } };
}

/** Writes the files of a result that its formats can hold. */
function save(name: string, result: unknown): string[] {
  return (['PDB', 'MMCIF'] as const).flatMap((format) => {
    const file = writeFoldFile(readFoldingResult(result), format, name === 'declared' ? DECLARED : []);
    const path = join(folder, `${name}.${format === 'PDB' ? 'pdb' : 'cif'}`);
    if (file.ok) writeFileSync(path, file.text);
    return file.ok ? [path] : [];
  });
}

/** A complex, and its file with the error of each pair of residues. */
async function foldedPairs() {
  const result = await folded(INPUTS.complex as FoldAllAtomInput, true);
  const file = writeMmcifWithPae(readFoldingResult(result));
  if (!file.ok) throw new Error(file.reason);
  return { pae: result.pae ?? [], text: [...file.pieces].join('') };
}

/** The order of chains is that of each format. */
const sorted = (chains: Read['chains'] | undefined) =>
  Object.fromEntries(Object.entries(chains ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));

describe.skipIf(MISSING)('files of structures', () => {
  const results = new Map<string, Awaited<ReturnType<typeof folded>> | ReturnType<typeof largeFold>>();
  let told: Record<string, Told>;
  const of = (name: string, ending: 'cif' | 'pdb') => told[join(folder, `${name}.${ending}`)];
  beforeAll(async () => {
    const paths: string[] = [];
    for (const [name, input] of Object.entries(INPUTS)) results.set(name, await folded(input));
    results.set('large', largeFold(10_001, false));
    for (const [name, result] of results) paths.push(...save(name, result));
    const upstream = proteinPdb(buildProtein(INSULIN, 0));
    const about = { hash: 'ab'.repeat(16), ptm: 0.5, meanPlddt: 0.6, unit: 'PERCENT' as const };
    const pdb = writeAtlasPdb(Buffer.from(upstream), about);
    const cif = pdbToMmcif(pdb, { id: about.hash, plddtUnit: 'PERCENT' });
    if (!cif.ok) throw new Error(cif.reason);
    for (const [ending, text] of [
      ['pdb', pdb],
      ['cif', cif.text],
    ] as const) {
      paths.push(join(folder, `atlas.${ending}`));
      writeFileSync(join(folder, `atlas.${ending}`), text);
    }
    paths.push(join(folder, 'paired.cif'));
    writeFileSync(join(folder, 'paired.cif'), (await foldedPairs()).text);
    told = await tell(paths);
  }, 600_000);

  it('are chains, residues, numbers and elements as they were sent, to gemmi and Biopython', () => {
    for (const [name, result] of results)
      for (const ending of ['cif', 'pdb'] as const) {
        const read = of(name, ending);
        // Two-letter chains and five-digit numbers are for mmCIF alone.
        if (read === undefined) expect(['hundred chains', 'metals', 'large'], name).toContain(name);
        else {
          expect(sorted(read.gemmi.chains), `gemmi, ${name}.${ending}`).toEqual(sorted(sent(result)));
          expect(sorted(read.biopython.chains), `Biopython, ${name}.${ending}`).toEqual(sorted(sent(result)));
        }
      }
  });

  it('become the same PDB files by pdb-tools, atom by atom', async () => {
    // pdb-tools puts names of atoms into other columns of the four.
    const atoms = (text: string) =>
      (text.match(/^(?:ATOM|HETATM).*/gm) ?? []).map((line) => line.slice(12, 66).trim().split(/\s+/));
    for (const name of ['insulin', 'modified', 'nucleic']) {
      const { stdout } = await run('pdb_fromcif', [join(folder, `${name}.cif`)]);
      const own = atoms(readFileSync(join(folder, `${name}.pdb`), 'utf8'));
      expect(own.length, name).toBeGreaterThan(90);
      expect(atoms(stdout), name).toEqual(own);
    }
  });

  it('are the same atoms and angles to Voronota and tortoize in both formats', async () => {
    const balls = (format: string, ending: string, name: string) =>
      run('bash', [
        '-c',
        `voronota get-balls-from-atoms-file --annotated --include-heteroatoms --input-format ${format} < "$0"`,
        join(folder, `${name}.${ending}`),
      ]).then(({ stdout }) => stdout.replace(/a<\d+>/g, '').split('\n'));
    for (const name of ['insulin', 'complex', 'glycan', 'atlas']) {
      const pdb = await balls('pdb', 'pdb', name);
      expect(pdb.length, name).toBeGreaterThan(90);
      expect(await balls('mmcif', 'cif', name), name).toEqual(pdb);
    }
    const angles = (ending: string) => run('tortoize', [join(folder, `insulin.${ending}`)]);
    const { stdout } = await angles('cif');
    expect(stdout).toContain('"ramachandran-z"');
    expect((await angles('pdb')).stdout).toBe(stdout);
  });

  it('break no rule of the dictionaries that they name', () => {
    // Features are of version 1.4.7; that of Debian is older.
    const isNewer = (fault: string) =>
      /_ma_qa_metric\.mode: per-feature is not one of the allowed/.test(fault);
    for (const [path, { faults }] of Object.entries(told))
      expect(
        faults.filter((fault) => !isNewer(fault)),
        path,
      ).toEqual([]);
  });

  it.each([
    ['insulin', 110],
    ['atlas', 110],
    ['modified', 13],
    ['complex', 32],
    ['glycan', 10],
  ])('are residues to DSSP: %s', (name, residues) => {
    expect(of(name, 'cif')?.dssp).toBe(residues);
    if (of(name, 'pdb') !== undefined) expect(of(name, 'pdb')?.dssp).toBe(residues);
  });

  it('have their bonds and bridges, and ligands are molecules to RDKit', () => {
    for (const ending of ['cif', 'pdb'] as const)
      expect(of('glycan', ending)?.gemmi.links).toEqual([
        ['Covale', 'ASN ND2', expect.stringMatching(/^NAG /)],
      ]);
    for (const ending of ['cif', 'pdb'] as const)
      expect(of('declared', ending)?.gemmi.links).toEqual([
        ['Covale', 'ASP CG', 'LYS NZ'],
        ['Covale', 'GLY N', 'HIS C'],
        ['MetalC', 'HIS NE2', 'ZN ZN'],
      ]);
    const ligands = of('smiles', 'pdb')?.rdkit?.ligands;
    expect(ligands?.['0 LIG1']).toEqual([13, 13]);
    expect(ligands?.['1 LIG1']).toEqual([6, 5]);
    expect(of('ccd', 'pdb')?.rdkit?.ligands['0 ATP1']).toEqual([31, 33]);
  });

  it('have all atoms to Open Babel, RDKit and Mol*', async () => {
    for (const [name, result] of results) {
      const count = result.complex.atom_names.length;
      for (const ending of ['cif', 'pdb'] as const) {
        const read = of(name, ending);
        if (read === undefined || name === 'large') continue;
        expect(read.openBabel, `${name}.${ending}`).toBe(count);
        expect(read.rdkit?.atoms ?? count, `${name}.${ending}`).toBe(count);
      }
      const model = readFoldingResult(result);
      const [cif, pdb] = [writeFoldFile(model, 'MMCIF'), writeFoldFile(model, 'PDB')];
      if (cif.ok) expect((await viewMmcif(cif.text)).atoms).toHaveLength(count);
      if (pdb.ok) expect((await viewPdb(pdb.text)).atoms).toHaveLength(count);
    }
  });

  it('have the errors of pairs of residues to Mol*, where they were sent', async () => {
    const { pae, text } = await foldedPairs();
    const seen = await viewPae(text);
    // Residues of polymers come first in this complex. Mol* reads decimals a bit beside the number.
    const polymers = 2 * 16 + 6 + 7;
    expect(Object.values(seen ?? {}).map((row) => Object.values(row ?? {}))).toEqual(
      pae
        .slice(0, polymers)
        .map((row) => row.slice(0, polymers).map((error) => expect.closeTo(error ?? Number.NaN, 6))),
    );
  });

  it('keep what was sent of odd inputs', async () => {
    const cases = fc.sample(oddInput, { numRuns: runs(20), seed: 51 });
    const paths = cases.flatMap((result, k) => save(`odd${k}`, result));
    const read = await tell(paths);
    for (const [k, result] of cases.entries())
      for (const ending of ['cif', 'pdb']) {
        const seen = read[join(folder, `odd${k}.${ending}`)];
        if (seen === undefined) continue;
        const wanted = Object.fromEntries(
          Object.entries(sent(result)).map(([id, rows]) => [
            id,
            rows.filter(([, , elements]) => elements.length > 0),
          ]),
        );
        expect(sorted(seen.gemmi.chains), `gemmi, ${k}.${ending}`).toEqual(sorted(wanted));
        expect(sorted(seen.biopython.chains), `Biopython, ${k}.${ending}`).toEqual(sorted(wanted));
        expect(seen.faults.filter((fault) => !/per-feature/.test(fault))).toEqual([]);
      }
  });
});

/** Columns of `_atom_site` that programs ask for, by the source that reads them (November 2026). */
const ATOM_COLUMNS: Readonly<Record<string, string>> = {
  // Each is looked up without a default, so that a missing one is a TypeError.
  'pdb-tools, pdbtools/pdb_fromcif.py':
    'pdbx_PDB_model_num group_PDB auth_atom_id type_symbol label_alt_id auth_comp_id auth_asym_id auth_seq_id ' +
    'pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv pdbx_formal_charge',
  // HADDOCK takes PDB files; mmCIF goes through pdb-tools, and through Biopython for ligands.
  'HADDOCK3, FastMMCIFParser of Bio/PDB/MMCIFParser.py':
    'id group_PDB type_symbol label_atom_id label_comp_id auth_asym_id label_asym_id label_alt_id ' +
    'pdbx_PDB_ins_code B_iso_or_equiv occupancy Cartn_x Cartn_y Cartn_z label_seq_id auth_seq_id pdbx_PDB_model_num',
  'pdb2pqr, pdb2pqr/cif.py':
    'group_PDB id label_atom_id label_alt_id label_comp_id label_asym_id auth_seq_id auth_comp_id auth_asym_id ' +
    'Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv type_symbol pdbx_formal_charge pdbx_PDB_model_num',
  'tortoize, src/tortoize.cpp and libcifpp':
    'id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id label_entity_id label_seq_id auth_seq_id ' +
    'auth_comp_id auth_asym_id auth_atom_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv ' +
    'pdbx_formal_charge pdbx_PDB_model_num',
  'Voronota, src/auxiliaries/atoms_io.h':
    'group_PDB id label_atom_id auth_atom_id label_alt_id label_comp_id auth_comp_id auth_asym_id label_asym_id ' +
    'auth_seq_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv type_symbol ' +
    'pdbx_PDB_model_num',
};

/** The files that are written: of a fold, with the errors of pairs, and of the Atlas. */
async function writtenFiles() {
  const fold = readFoldingResult(await folded(INPUTS.complex as FoldAllAtomInput));
  const [cif, pdb] = [writeFoldFile(fold, 'MMCIF'), writeFoldFile(fold, 'PDB')];
  const about = { hash: 'ab'.repeat(16), ptm: 0.5, meanPlddt: 0.6, unit: 'PERCENT' as const };
  const atlasPdb = writeAtlasPdb(Buffer.from(proteinPdb(buildProtein(INSULIN, 0))), about);
  const atlas = pdbToMmcif(atlasPdb, { id: about.hash, plddtUnit: 'PERCENT' });
  if (!cif.ok || !pdb.ok || !atlas.ok) throw new Error('a file could not be written');
  return { cif: [cif.text, (await foldedPairs()).text, atlas.text], pdb: [pdb.text, atlasPdb] };
}

it.each(Object.entries(ATOM_COLUMNS))('have the columns of atoms that %s asks for', async (_, columns) => {
  for (const text of (await writtenFiles()).cif) {
    const [row] = readCif(text).get('atom_site') ?? [];
    expect(columns.split(' ').filter((column) => row?.[column] === undefined)).toEqual([]);
    // These are read as numbers, and as the name of a chain.
    for (const column of ['occupancy', 'B_iso_or_equiv', 'auth_seq_id', 'pdbx_PDB_model_num', 'id'])
      expect(row?.[column]).toMatch(/^\d+(\.\d+)?$/);
    expect(row?.auth_asym_id).toMatch(/^\w+$/);
  }
});

it('have the columns and ends of PDB files that HADDOCK, pdb2pqr and Voronota read', async () => {
  for (const text of (await writtenFiles()).pdb) {
    const lines = text.toString().split('\n').slice(0, -1);
    const atoms = lines.filter((line) => /^(ATOM {2}|HETATM)/.test(line));
    for (const line of atoms)
      expect(line).toMatch(
        /^.{6}[ \d]{5} .{4} [ \w]{3} \w[ \d-]{4} {4}([ \d.-]{8}){3} {2}1\.00[ \d.]{6} {10}( [A-Z]|[A-Z]{2})( {2}|[1-9][+-])?$/,
      );
    // The last atom of each chain of residues is followed by TER, and the file by END.
    const polymers = [...new Set(atoms.filter((line) => line.startsWith('ATOM')).map((line) => line[21]))];
    expect(lines.filter((line) => line.startsWith('TER')).map((line) => line[21])).toEqual(polymers);
    expect(lines.at(-1)?.trim()).toBe('END');
  }
  const magnesium = (await writtenFiles()).pdb.map((text) => /^HETATM.{6}MG .*$/m.exec(text.toString())?.[0]);
  expect(magnesium[0]?.slice(76)).toBe('MG2+');
});

/**
 * Items without which a row is no row, by category: mmcif_ma.dic 1.4.9, for dictionaries that are
 * older.
 */
const MANDATORY: Readonly<Record<string, string>> = {
  ma_data: 'id name content_type',
  ma_data_group: 'ordinal_id group_id data_id',
  ma_entity_instance_feature: 'ordinal_id feature_id label_asym_id',
  ma_feature_list: 'feature_id feature_type entity_type',
  ma_model_list: 'ordinal_id model_type data_id',
  ma_protocol_step: 'ordinal_id protocol_id step_id method_type',
  ma_qa_metric: 'id name type mode',
  ma_qa_metric_feature: 'ordinal_id model_id feature_id metric_id metric_value',
  ma_qa_metric_global: 'ordinal_id model_id metric_id metric_value',
  ma_qa_metric_local: 'ordinal_id model_id label_asym_id label_seq_id label_comp_id metric_id metric_value',
  ma_software_group: 'ordinal_id group_id software_id',
  ma_target_entity: 'entity_id data_id origin',
  ma_target_entity_instance: 'asym_id entity_id',
  pdbx_entity_nonpoly: 'entity_id ma_model_mode',
  software: 'pdbx_ordinal name classification',
};

it('have every mandatory item of ModelCIF 1.4.9, none of them unknown', async () => {
  const file = writeFoldFile(readFoldingResult(await folded(INPUTS.complex as FoldAllAtomInput)), 'MMCIF');
  if (!file.ok) throw new Error(file.reason);
  const cif = readCif(file.text);
  for (const [category, items] of Object.entries(MANDATORY)) {
    const rows = cif.get(category) ?? [];
    expect(rows.length, category).toBeGreaterThan(0);
    for (const row of rows)
      for (const item of items.split(' ')) {
        expect(row[item], `_${category}.${item}`).toBeDefined();
        expect(row[item], `_${category}.${item}`).not.toBe('?');
      }
  }
});
