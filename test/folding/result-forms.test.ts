// Folding results with a row for each token, or for each atom of ligands and modified residues: the
// gateway's answers are the same, and rows that fit neither are an error, never a shifted matrix.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unzipSync } from 'fflate';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ResultForm } from '../../sandbox/src/folding/rows.ts';
import { writeFoldFile } from '../../src/structure/fold/files.ts';
import { nameOnlyChain } from '../../src/structure/fold/only-chain.ts';
import { paeBlock } from '../../src/structure/fold/pae.ts';
import { readFold } from '../../src/upstream/folds/read-fold.ts';
import { largeFold, smallFold } from '../structure/fold.ts';
import { readCif } from '../structure/read-cif.ts';
import { at, listAt } from '../support.ts';
import { openBench } from './bench.ts';

const COMPLEX = {
  items: [
    {
      chains: [
        {
          protein: {
            sequence: 'MKSAYIAKQRQISFVKSHFSRQ',
            ids: ['A', 'B'],
            modifications: [
              { position: 2, ccd: 'SEP' },
              { position: 0, ccd: 'MSE' },
            ],
          },
        },
        { rna: { sequence: 'GGAUCC', ids: ['R'], modifications: [{ position: 5, ccd: '5MC' }] } },
        { ligand: { ccd: ['GOL'], ids: ['L'] } },
        { ligand: { ccd: ['NAG', 'NAG'], ids: ['N'] } },
        { ligand: { smiles: 'CC(=O)O', ids: ['S'] } },
        { ligand: { ccd: ['MG'], ids: ['M'] } },
      ],
      includePae: true,
      includePairChainsIptm: true,
      includeEmbeddings: true,
    },
  ],
};

const RESULT = `query($id: ID!) { batch(batchId: $id) { tasks(first: 1) { nodes { taskId result {
  ptm iptm resultUrl chains { id kind tokenStart tokenEnd sequence meanPlddt }
  plddt { mean length values } chainPairs { a b iptm meanPae }
  pae { size block { step values } }
  embeddings { sequenceShape pairShape url }
  mmcif: structure { text atomCount } pdb: structure(format: PDB) { text } } } } } }`;

interface Folded {
  readonly result: unknown;
  /** The text that the service wrote. */
  readonly json: { readonly pae: number[][] };
  readonly npz: Uint8Array;
}

async function folded(resultForm: Partial<ResultForm>): Promise<Folded> {
  const bench = await openBench({}, { resultForm });
  const id = await bench.submit(COMPLEX);
  await bench.pass(120_000);
  const answer = await bench.ask(RESULT, { id });
  expect(answer.errors).toBeUndefined();
  const result = at(answer.data, 'batch.tasks.nodes.0.result');
  const json = (await (await bench.download(String(at(result, 'resultUrl')))).json()) as Folded['json'];
  const npz = await bench.download(String(at(result, 'embeddings.url')));
  const folded = { result, json, npz: new Uint8Array(await npz.arrayBuffer()) };
  await bench.close();
  return folded;
}

const readPairs = (result: unknown): Map<string, number> =>
  new Map(
    (listAt(result, 'chainPairs') as { a: string; b: string; meanPae: number | null }[]).flatMap(
      ({ a, b, meanPae }) => (meanPae === null ? [] : [[a + b, meanPae]]),
    ),
  );
/** Everything that a result says in numbers and names, and not how it is written. */
const said = (result: unknown) =>
  JSON.parse(JSON.stringify(result), (key, value: unknown) => {
    if (['text', 'url', 'resultUrl', 'iptm', 'meanPae', 'mean', 'meanPlddt', 'values'].includes(key))
      return undefined;
    return value;
  });

const atomRows = (one: unknown) => readCif(String(at(one, 'mmcif.text'))).get('atom_site') ?? [];
const withoutB = ({ B_iso_or_equiv: _, ...row }: Record<string, string>) => row;

describe('rows by token and rows by atom', () => {
  let plain: Folded;
  let byAtoms: Folded;
  let pipeline: Folded;
  let sparse: Folded;
  // A thread that folds its first ligand loads a cheminformatics library, which takes seconds. One
  // after the other, they share it.
  beforeAll(async () => {
    plain = await folded({ rows: 'token', entities: 'kind' });
    byAtoms = await folded({ rows: 'atom', entities: 'kind' });
    pipeline = await folded({ rows: 'atom', entities: 'polymer' });
    sparse = await folded({ rows: 'atom', atoms: 'sparse' });
  }, 180_000);

  it('give the same chains, pLDDT, pairs, blocks, embeddings and files', async () => {
    const token = plain.result;
    const { result: atom, json, npz } = byAtoms;
    const size = Number(at(atom, 'pae.size'));
    expect(json.pae.length, 'rows of the result itself').toBeGreaterThan(size + 50);
    expect(JSON.stringify(said(atom))).toBe(JSON.stringify(said(token)));
    expect(readPairs(atom).size, 'every chain with every other').toBe(42);
    for (const [pair, value] of readPairs(token)) expect(readPairs(atom).get(pair)).toBeCloseTo(value, 2);
    const [a, b] = [token, atom].map((one) => listAt(one, 'pae.block.values').flat() as number[]);
    expect(b).toHaveLength(a?.length ?? 0);
    b?.forEach((value, k) => {
      expect(value).toBeCloseTo(a?.[k] ?? -1, 2);
    });
    const values = (one: unknown) => listAt(one, 'plddt.values') as (number | null)[];
    expect(values(atom)).toHaveLength(values(token).length);
    values(atom).forEach((value, k) => {
      if (value === null) expect(values(token)[k]).toBeNull();
      else expect(value).toBeCloseTo(values(token)[k] ?? -1, 1);
    });
    expect(at(atom, 'embeddings.sequenceShape.0')).toBe(size);
    const header = new TextDecoder('latin1').decode(unzipSync(npz)['sequence.npy']?.slice(0, 128));
    expect(header).toContain(`'shape': (${size}, `);
    expect(atomRows(atom).map(withoutB)).toEqual(atomRows(token).map(withoutB));
  });

  it('give B-factors of the atoms where the service sends rows for them, and the mean to their token', () => {
    const b = (one: unknown, component: string) =>
      atomRows(one)
        .filter(({ label_comp_id }) => label_comp_id === component)
        .map(({ B_iso_or_equiv }) => Number(B_iso_or_equiv));
    for (const component of ['GOL', 'NAG', 'SEP', 'LIG']) {
      const [mean = 0] = b(plain.result, component);
      const values = b(byAtoms.result, component).slice(0, component === 'SEP' ? 10 : undefined);
      expect(new Set(b(plain.result, component)).size, component).toBeLessThanOrEqual(2);
      expect(new Set(values).size, component).toBeGreaterThan(3);
      if (component === 'NAG') continue;
      expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(mean, 1);
    }
    // The same in the PDB file, in its columns.
    const inPdb = String(at(byAtoms.result, 'pdb.text')).match(/^(?:ATOM|HETATM).*/gm) ?? [];
    expect(inPdb.map((line) => Number(line.slice(60, 66)))).toEqual(
      atomRows(byAtoms.result).map(({ B_iso_or_equiv }) => Number(B_iso_or_equiv)),
    );
  });

  it('give the same elements where the service leaves them out', () => {
    expect(atomRows(sparse.result).map(({ type_symbol }) => type_symbol)).toEqual(
      atomRows(plain.result).map(({ type_symbol }) => type_symbol),
    );
  });

  it('polymer and non-polymer say the same of chains as kinds do, a ligand of two codes is one token', async () => {
    const [kind, polymer] = [plain.result, pipeline.result];
    const chains = (one: unknown) =>
      (listAt(one, 'chains') as { id: string; kind: string; sequence: string | null }[]).map(
        ({ id, kind: word, sequence }) => [id, word, sequence],
      );
    expect(chains(polymer)).toEqual(chains(kind));
    expect(Number(at(polymer, 'pae.size'))).toBe(Number(at(kind, 'pae.size')) - 1);
    for (const [pair, value] of readPairs(kind)) expect(readPairs(polymer).get(pair)).toBeCloseTo(value, 1);
    // Modified residues are HETATM in both, whatever `atom_hetero` says.
    const modified = (one: unknown) =>
      String(at(one, 'pdb.text')).match(/^HETATM.*(?:SEP|MSE|5MC)/gm)?.length;
    expect(modified(polymer)).toBe(modified(kind));
  });
});

it('a residue without coordinates is part of the sequence and of no file', async () => {
  const bench = await openBench({}, { resultForm: { atoms: 'sparse' } });
  const id = await bench.submit({
    items: [{ chains: [{ protein: { sequence: 'MKTXAYIAKQ', ids: ['A'] } }], includePae: true }],
  });
  await bench.pass(120_000);
  const { data, errors } = await bench.ask(RESULT, { id });
  expect(errors).toBeUndefined();
  const result = at(data, 'batch.tasks.nodes.0.result');
  expect(at(result, 'chains.0.sequence')).toBe('MKTXAYIAKQ');
  expect(at(result, 'pae.size')).toBe(10);
  expect(new Set(atomRows(result).map(({ label_seq_id }) => label_seq_id)).size).toBe(9);
  expect(at(result, 'mmcif.text')).toContain(' MKTXAYIAKQ ');
  expect(at(result, 'pdb.text')).toMatch(/^SEQRES {3}1 A {3}10 {2}MET LYS THR UNK ALA/m);
  expect(at(result, 'pdb.text')).not.toMatch(/^ATOM.{13}UNK/m);
  await bench.close();
});

/**
 * The small fold with a row for each atom of its ligands and its modified residue, the values of a
 * token spread around its own.
 */
function byAtom() {
  const fold = smallFold();
  const rows = fold.complex.sequence.flatMap((name, token) => {
    const [start = 0, end = 0] = fold.complex.token_to_atoms[token] ?? [];
    const count = ['SEP', 'ATP', 'MG'].includes(name) ? end - start : 1;
    return Array.from({ length: count }, (_, k) => ({ token, by: (k - (count - 1) / 2) / 100 }));
  });
  const plddt = rows.flatMap(({ token, by }, k) => [
    ...(k > 0 && fold.complex.chain_id[rows[k - 1]?.token ?? 0] !== fold.complex.chain_id[token]
      ? [null]
      : []),
    (fold.complex.plddt[token] ?? 0) + by,
  ]);
  const pae = rows.map((r) => rows.map((c) => (fold.pae[r.token]?.[c.token] ?? 0) + r.by + c.by));
  return { ...fold, pae, plddt };
}
const open = (value: unknown) => readFold(Buffer.from(JSON.stringify(value)));

describe('rows of an unfamiliar result', () => {
  it('are averaged where a token has several', async () => {
    const [token, atom] = await Promise.all([open(smallFold()), open(byAtom())]);
    expect(byAtom().pae.length).toBe(18);
    expect(atom.pae?.rowCount).toBe(11);
    const expected = (token.pae && paeBlock(token.pae).values) ?? [];
    (atom.pae && paeBlock(atom.pae).values)?.forEach((row, r) => {
      row.forEach((value, c) => {
        expect(value).toBeCloseTo(expected[r]?.[c] ?? -1, 9);
      });
    });
    const plddt = token.plddt.slots;
    expect(atom.plddt.slots.map((value) => value && Number(value.toFixed(9)))).toEqual(plddt);
    expect(atom.chains.map(({ kind }) => kind)).toEqual(token.chains.map(({ kind }) => kind));
  });

  it('may be by atom for ligands only, with an entity table by row', async () => {
    const fold = smallFold();
    const counts = [1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1];
    const rows = counts.flatMap((count, token) => Array.from({ length: count }, () => token));
    const entity = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5];
    const summary = await open({
      ...fold,
      complex: {
        ...fold.complex,
        atom_hetero: fold.complex.atom_hetero.map(() => false),
        metadata: {
          ...fold.complex.metadata,
          entity_lookup: {
            '0': 'polymer',
            '1': 'polymer',
            '2': 'polymer',
            '3': 'polymer',
            '4': 'non-polymer',
            '5': 'non-polymer',
          },
        },
      },
      pae: rows.map((r) => rows.map((c) => fold.pae[r]?.[c])),
      output_embedding_sequence: rows.map((token) => [token, 1]),
      entity_id: rows.map((token) => entity[token]),
    });
    expect(summary.pae?.rowCount).toBe(11);
    expect(summary.embeddings?.sequence).toMatchObject({ rowCount: 11, columnCount: 2 });
    expect(summary.chains.map(({ kind }) => kind)).toEqual([
      'protein',
      'protein',
      'rna',
      'dna',
      'ligand',
      'ligand',
    ]);
  });

  it('may be by atom for modified residues only', async () => {
    const counts = [1, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1];
    const rows = counts.flatMap((count, token) => Array.from({ length: count }, () => token));
    const { pae } = await open({
      ...smallFold(),
      pae: rows.map((r) => rows.map((c) => 100 * r + c)),
    });
    expect(pae?.rowCount).toBe(11);
    const { values } = pae === null ? { values: [] } : paeBlock(pae);
    expect([values[2]?.[2], values[3]?.[10]]).toEqual([202, 310]);
  });

  it('are an error where they fit no token, and nothing else is lost', async () => {
    const fold = byAtom();
    const cut = fold.pae.slice(1).map((row) => row.slice(1));
    const crooked = smallFold().pae.map((row, k) => (k === 3 ? row.slice(1) : row));
    for (const pae of [cut, crooked]) {
      const read = await open({ ...fold, pae });
      expect(read.pae).toBeNull();
      expect(read.misfits.pae).toMatch(/changed at \$\.pae: .*saw 1[17] rows\.$/);
      expect(writeFoldFile(read, 'MMCIF').ok).toBe(true);
    }
    const plddt = [0.5, 0.6, 0.7];
    const unsure = await open({ ...fold, plddt, complex: { ...fold.complex, plddt: [] } });
    expect(unsure.misfits.plddt).toMatch(/\$\.plddt/);
    expect(unsure.meanPlddt).toBeNull();
    const file = writeFoldFile(unsure, 'MMCIF');
    expect(file.ok && file.text).toContain('do not fit its tokens');
  });

  it('are UPSTREAM_DRIFT in a query, at the field that needs them', async () => {
    const wrong = JSON.stringify({
      ...smallFold(),
      complex: { ...smallFold().complex, plddt: [] },
      plddt: [0.5],
      pae: [[1]],
      output_embedding_sequence: [[1], [2]],
    });
    const files = createServer((_, response) => response.end(wrong)).listen(0, '127.0.0.1');
    await new Promise((resolve) => files.once('listening', resolve));
    onTestFinished(() => void files.close());
    const bench = await openBench({ DOWNLOAD_HOSTS: '127.0.0.1' });
    onTestFinished(() => bench.close());
    const id = await bench.submit({ items: [SMALL_ITEM] });
    await bench.pass(60_000);
    await bench.fault({
      operation: 'status',
      times: 9,
      status: 200,
      body: {
        status: 'success',
        data: {
          status: 'done',
          response: `http://127.0.0.1:${(files.address() as AddressInfo).port}/x.json`,
        },
        request_id: 'r',
      },
    });
    const { data, errors } = await bench.ask(
      `query($id: ID!) { batch(batchId: $id) { tasks(first: 1) { nodes { scores { iptm meanPlddt } result {
        ptm chains { id meanPlddt } plddt { mean } pae { size } embeddings { sequenceShape } } } } } }`,
      { id },
    );
    expect(at(data, 'batch.tasks.nodes.0.result')).toMatchObject({
      ptm: 0.8123,
      plddt: null,
      pae: null,
      embeddings: null,
    });
    expect(at(data, 'batch.tasks.nodes.0.scores')).toEqual({ iptm: 0.7, meanPlddt: null });
    const chains = smallFold().complex.metadata.chain_lookup;
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code]).sort()).toEqual([
      ['embeddings', 'UPSTREAM_DRIFT'],
      // One error of the scores, and one of each chain.
      ...Object.keys(chains).map(() => ['meanPlddt', 'UPSTREAM_DRIFT']),
      ['meanPlddt', 'UPSTREAM_DRIFT'],
      ['pae', 'UPSTREAM_DRIFT'],
      ['plddt', 'UPSTREAM_DRIFT'],
    ]);
    expect(errors?.[0]?.message).toMatch(/changed at \$\..*expected one row for each of the 11 tokens/);
  });
});

/** The submission of the small fold. */
const SMALL_ITEM = {
  chains: [
    { protein: { sequence: 'MGS', ids: ['A'], modifications: [{ position: 2, ccd: 'SEP' }] } },
    { protein: { sequence: 'MG', ids: ['B'] } },
    { rna: { sequence: 'AU', ids: ['R'] } },
    { dna: { sequence: 'AT', ids: ['D'] } },
    { ligand: { ccd: ['ATP'], ids: ['L'] } },
    { ligand: { ccd: ['MG'], ids: ['M'] } },
  ],
};
const ALANINES = { chains: [{ protein: { sequence: 'AAA', ids: ['A'] } }] };

/** A bench whose only task has this result. */
async function benchWith(fold: object, item: object = SMALL_ITEM) {
  const bench = await openBench();
  onTestFinished(() => bench.close());
  const id = await bench.submit({ items: [item] });
  await bench.pass(60_000);
  const body = { data: { status: 'done', response: fold } };
  await bench.fault({ operation: 'status', times: 99, status: 200, body });
  const query = (fields: string) =>
    bench.ask(
      `query($id: ID!) { batch(batchId: $id) { tasks(first: 1) { nodes { taskId scores { ptm } result { ${fields} } } } } }`,
      { id },
    );
  return { ...bench, id, query };
}

describe('a result that lost what its chains or atoms are known by', () => {
  const { complex, ...scores } = smallFold();
  const { metadata: _, ...withoutNames } = complex;
  const { chain_id: __, ...withoutNumbers } = complex;
  const { chain_id: ___, ...withoutBoth } = withoutNames;
  const { '3': ____, ...fewer } = complex.metadata.chain_lookup;
  const withNames = (chain_lookup: Record<string, string>) => ({
    ...complex,
    metadata: { ...complex.metadata, chain_lookup },
  });
  const LOST_NAMES: [string, object][] = [
    ['metadata', withoutNames],
    ['chain_id', withoutNumbers],
    ['both', withoutBoth],
    ['one name', withNames(fewer)],
    ['a chain number', { ...complex, chain_id: complex.chain_id.slice(1) }],
  ];
  const places = complex.atom_positions;
  const LOST_ATOMS: [string, object][] = [
    ['rows of places', { ...complex, atom_positions: places.flat() }],
    ['a coordinate', { ...complex, atom_positions: places.map((row, k) => (k === 7 ? row.slice(1) : row)) }],
    ['the last places', { ...complex, atom_positions: places.slice(0, -1) }],
    ['all places', { ...complex, atom_positions: [] }],
    ['all numbers', { ...complex, atom_positions: places.map(() => [null, null, null]) }],
    ['the atoms of a token', { ...complex, token_to_atoms: complex.token_to_atoms.slice(1) }],
  ];

  it.each(LOST_NAMES)('%s: its chains and files are errors, and nothing else is lost', async (_what, odd) => {
    const bench = await benchWith({ ...scores, complex: odd });
    const fields = 'ptm plddt { mean } pae { size } chainPairs { a } chains { id } structure { text }';
    const { data, errors } = await bench.query(fields);
    const result = at(data, 'batch.tasks.nodes.0.result');
    expect(at(data, 'batch.tasks.nodes.0.scores')).toEqual({ ptm: 0.8123 });
    expect(result ?? null).toBeNull();
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['UPSTREAM_DRIFT']));
    const rest = await bench.query('ptm plddt { mean length } pae { size }');
    expect(rest.errors).toBeUndefined();
    expect(at(rest.data, 'batch.tasks.nodes.0.result')).toMatchObject({ ptm: 0.8123, pae: { size: 11 } });
    const pairs = await bench.query('ptm chainPairs { a }');
    expect(pairs.errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
    const taskId = String(at(data, 'batch.tasks.nodes.0.taskId'));
    for (const file of ['structure.cif', 'structure.pdb']) {
      const answer = await bench.download(`/tasks/${taskId}/${file}`);
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('$.complex.')]);
    }
  });

  it.each(LOST_ATOMS)('%s: its files are errors, and nothing else is lost', async (_what, odd) => {
    const bench = await benchWith({ ...scores, complex: odd });
    const { data, errors } = await bench.query(
      'chains { id } structure { text } pdb: structure(format: PDB) { atomCount }',
    );
    const result = at(data, 'batch.tasks.nodes.0.result');
    expect(result).toMatchObject({ structure: null, pdb: null });
    expect(listAt(result, 'chains')).toHaveLength(6);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(2).fill('UPSTREAM_DRIFT'));
    const zip = unzipSync(
      new Uint8Array(await (await bench.download(`/batches/${bench.id}/results.zip`)).arrayBuffer()),
    );
    expect(Object.keys(zip).filter((name) => name.endsWith('.cif'))).toEqual([]);
    const manifest: unknown = JSON.parse(new TextDecoder().decode(zip['manifest.json']));
    expect(listAt(manifest, 'tasks.0.files').map((file) => String(at(file, 'name')).split('/')[0])).toEqual([
      expect.stringMatching(/\.json$/),
      'summary_confidences',
    ]);
    expect(at(manifest, 'tasks.0.problem')).toContain('changed at $.complex.');
    expect(at(manifest, 'isComplete')).toBe(false);
  });

  it('may be a single chain without a number, under the name that there is', async () => {
    const { complex: single, ...rest } = largeFold(3);
    const { chain_id: _number, metadata: _names, ...bare } = single;
    const named = await open({ ...rest, complex: { ...bare, metadata: { chain_lookup: { '0': 'H' } } } });
    expect([named.chains.map(({ id }) => id), named.warnings]).toEqual([['H'], []]);
    const unnamed = await open({ ...rest, complex: bare });
    expect(unnamed.chains.map(({ id }) => id)).toEqual(['A']);
    expect(unnamed.isNameless).toBe(true);
    expect(unnamed.misfits).toMatchObject({ chains: null, structure: null });
    const { warnings } = nameOnlyChain(unnamed, []);
    expect(warnings).toEqual(["The upstream's result does not name its only chain; it is A here."]);
  });

  const only = () => {
    const { complex: single, ...rest } = largeFold(3);
    const { chain_id: _number, metadata: _names, ...bare } = single;
    return { ...rest, pair_chains_iptm: [[0.7]], complex: bare };
  };
  const FIELDS = 'warnings chains { id } chainPairs { a b } structure { text }';

  it('may be a single chain without a name, under that of its submission in every field and file', async () => {
    const item = { chains: [{ protein: { sequence: 'AAA', ids: ['H'] } }] };
    const bench = await benchWith(only(), item);
    const { data, errors } = await bench.query(FIELDS);
    expect(errors).toBeUndefined();
    const result = at(data, 'batch.tasks.nodes.0.result');
    expect(result).toMatchObject({ chains: [{ id: 'H' }], chainPairs: [{ a: 'H', b: 'H' }] });
    expect(at(result, 'warnings')).toEqual([
      "The upstream's result does not name its only chain; it is H here, as in its submission.",
    ]);
    const taskId = String(at(data, 'batch.tasks.nodes.0.taskId'));
    const read = async (file: string) => (await bench.download(`/tasks/${taskId}/${file}`)).text();
    const cif = await read('structure.cif');
    expect(
      new Set(
        readCif(cif)
          .get('atom_site')
          ?.map((row) => row.auth_asym_id),
      ),
    ).toEqual(new Set(['H']));
    const pdb = (await read('structure.pdb')).split('\n').filter((line) => /^(ATOM|TER)/.test(line));
    expect(new Set(pdb.map((line) => line[21]))).toEqual(new Set(['H']));
    expect(new Set(listAt(JSON.parse(await read('confidences.json')), 'token_chain_ids'))).toEqual(
      new Set(['H']),
    );
    const zip = unzipSync(
      new Uint8Array(await (await bench.download(`/batches/${bench.id}/results.zip`)).arrayBuffer()),
    );
    const manifest: unknown = JSON.parse(new TextDecoder().decode(zip['manifest.json']));
    expect(at(manifest, 'tasks.0.problem')).toBeNull();
    const cifName = Object.keys(zip).find((name) => name.endsWith('.cif')) ?? '';
    expect(new TextDecoder().decode(zip[cifName])).toBe(cif);
  });

  it('is drift where several chains were submitted and the result tells of one', async () => {
    const item = { chains: [{ protein: { sequence: 'AAA', ids: ['H', 'L'] } }] };
    const bench = await benchWith(only(), item);
    const { data, errors } = await bench.query(FIELDS);
    expect(at(data, 'batch.tasks.nodes.0.result') ?? null).toBeNull();
    expect(errors?.[0]?.message).toContain('$.complex.chain_id');
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
    const taskId = String(at(await bench.query('ptm'), 'data.batch.tasks.nodes.0.taskId'));
    expect((await bench.download(`/tasks/${taskId}/structure.cif`)).status).toBe(502);
  });
});

describe('scores outside 0 to 1', () => {
  const ask = async (fold: object, fields: string, item: object = SMALL_ITEM) =>
    (await benchWith(fold, item)).query(fields);

  it.each([
    ['ptm', 81.23, '$.ptm: expected numbers from 0 to 1, seen 81.23.'],
    ['interface_ptm', 70, '$.interface_ptm: expected numbers from 0 to 1, seen 70.'],
    ['ptm', -0.5, '$.ptm: expected numbers from 0 to 1, seen -0.5.'],
    ['interface_ptm', '0.9', '$.interface_ptm: expected numbers from 0 to 1, seen "0.9".'],
    ['ptm', [0.7], '$.ptm: expected numbers from 0 to 1, seen [0.7].'],
  ])('are an error: %s of %s', async (key, value, reason) => {
    const { data, errors } = await ask({ ...smallFold(), [key]: value }, 'ptm iptm pae { size }');
    expect(at(data, 'batch.tasks.nodes.0')).toMatchObject({
      scores: null,
      result: { ptm: null, iptm: null, pae: { size: 11 } },
    });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(3).fill('UPSTREAM_DRIFT'));
    expect(errors?.[0]?.message).toContain(reason);
  });

  it('are an error at the pairs of chains only where they are theirs', async () => {
    const pairs = smallFold().pair_chains_iptm.map((row) => row.map((value) => value * 100));
    const { data, errors } = await ask(
      { ...smallFold(), pair_chains_iptm: pairs },
      'ptm chainPairs { iptm }',
    );
    expect(at(data, 'batch.tasks.nodes.0')).toMatchObject({ scores: { ptm: 0.8123 } });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.path?.at(-1)).toBe('chainPairs');
  });

  it('are an error at pairs of chains that are not those of the result; none are none', async () => {
    const pairs = [
      [0.9, 0.5],
      [0.5, 0.8],
    ];
    const odd = await ask({ ...smallFold(), pair_chains_iptm: pairs }, 'ptm chainPairs { iptm }');
    expect(odd.errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['chainPairs', 'UPSTREAM_DRIFT'],
    ]);
    expect(odd.errors?.[0]?.message).toContain(
      'expected a row and a column for each of the 6 chains, saw 2 rows',
    );
    for (const none of [[], [[]], null]) {
      const { data, errors } = await ask({ ...smallFold(), pair_chains_iptm: none }, 'chainPairs { iptm }');
      expect(errors).toBeUndefined();
      const found = listAt(data, 'batch.tasks.nodes.0.result.chainPairs');
      expect(found.filter((pair) => at(pair, 'iptm') !== null)).toEqual([]);
    }
  });

  it('are none for a single chain, which has no interface', async () => {
    const fold = { ...largeFold(3), interface_ptm: 0 };
    const { data } = await ask(fold, 'ptm iptm structure { text }', ALANINES);
    const { iptm, ptm, structure } = at(data, 'batch.tasks.nodes.0.result') as Record<string, unknown>;
    expect([iptm, ptm]).toEqual([null, 0.5]);
    expect(at(structure, 'text')).not.toContain('ipTM');
    const complex = await ask({ ...smallFold(), interface_ptm: 0 }, 'iptm');
    expect(at(complex.data, 'batch.tasks.nodes.0.result')).toEqual({ iptm: 0 });
  });

  it.each([-0.2, 130, '0.8'])('of tokens are an error, and the mean is not stored: %s', async (value) => {
    const fold = smallFold();
    const odd = (plddt: readonly unknown[]) => [value, ...plddt.slice(1)];
    const complex = { ...fold.complex, plddt: odd(fold.complex.plddt) };
    const { data, errors } = await ask(
      { ...fold, plddt: odd(fold.plddt), complex },
      'ptm plddt { mean values } chains { meanPlddt }',
    );
    const { scores, result } = at(data, 'batch.tasks.nodes.0') as Record<string, unknown>;
    expect(scores).toEqual({ ptm: 0.8123 });
    expect(result).toMatchObject({ ptm: 0.8123, plddt: null });
    // One error of the whole, and one of each chain.
    expect(errors).toHaveLength(1 + Object.keys(complex.metadata.chain_lookup).length);
    for (const { message } of errors ?? [])
      expect(message).toContain(
        `$.plddt: expected numbers from 0 to ${value === 130 ? 100 : 1}, seen ${JSON.stringify(value)}.`,
      );
    const whole = await ask({ ...fold, plddt: odd(fold.plddt) }, 'plddt { mean }');
    expect(whole.errors).toBeUndefined();
  });

  it('are left out of a structure file, which says so', async () => {
    const fold = await open({ ...smallFold(), ptm: 81.23 });
    const file = writeFoldFile(fold, 'MMCIF');
    expect(file.ok && file.text).toContain('left out. The upstream');
    expect(file.ok && file.text).not.toMatch(/pTM[^\n]*81\.23/);
  });
});
