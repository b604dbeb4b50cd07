// Confidence files in the forms of AlphaFold 3 and AlphaFold DB: what stands in them, that they
// agree with structure.cif, how they are sent.
import { extname } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readCif } from '../structure/read-cif.ts';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein } from './bench.ts';

const COMPLEX = {
  name: 'complex',
  includePae: true,
  includePairChainsIptm: true,
  chains: [
    { protein: { ids: ['A'], sequence: INSULIN_A, modifications: [{ position: 3, ccd: 'SEP' }] } },
    { ligand: { ids: ['L'], ccd: ['ATP'] } },
    { rna: { ids: ['R'], sequence: 'GGAUCC' } },
  ],
};
const ITEMS = [
  COMPLEX,
  { ...protein(INSULIN_B, 'alone'), includePae: true },
  protein(INSULIN_B, 'without'),
  {
    name: 'pair',
    includePae: true,
    chains: [{ protein: { ids: ['A', 'B'], sequence: INSULIN_A } }],
  },
];
const TOKENS = INSULIN_A.length + 1 + 6;
const FILES = [
  ...['result.json', 'structure.cif', 'structure.pdb', 'confidences.json', 'summary_confidences.json'],
  ...['pae.json', 'embeddings.npz'],
];

function withLongNames(complex: unknown): unknown {
  const names = { '0': 'LONG', '1': 'LONGER', '2': 'LONGEST' };
  return {
    ...(complex as object),
    metadata: { ...(at(complex, 'metadata') as object), chain_lookup: names },
  };
}

let bench: Bench;
let id: string;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
  id = await bench.submit({ items: ITEMS });
  await bench.pass(120_000);
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const get = (task: number, file: string, headers: Record<string, string> = {}, from = bench, batch = id) =>
  from.gateway.fetch(
    new Request(`http://gateway.test/tasks/${batch}-0000${task}/${file}`, {
      headers: { authorization: 'Bearer key-of-a-test', ...headers },
    }),
  );
const json = async (task: number, file: string, from = bench, batch = id): Promise<unknown> => {
  const answer = await get(task, file, {}, from, batch);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  return answer.json();
};

interface Confidences {
  readonly atom_chain_ids: string[];
  readonly atom_plddts: number[];
  readonly pae: number[][];
  readonly token_chain_ids: string[];
  readonly token_res_ids: number[];
}

/** The values of structure.cif for its atoms, in order. */
async function readAtoms(from: Bench, batch: string) {
  const cif = readCif(await (await get(0, 'structure.cif', {}, from, batch)).text());
  return (cif.get('atom_site') ?? []).map((atom) => ({
    chain: atom.auth_asym_id,
    b: Number(atom.B_iso_or_equiv),
    residue: Number(atom.auth_seq_id),
    component: atom.auth_comp_id ?? '',
  }));
}

describe.each(['token', 'atom'] as const)('confidences.json of a result with a row for each %s', (rows) => {
  it('has the atoms of structure.cif, and a token for each residue and each atom of ligands and modified residues', async () => {
    const own = await openBench({}, { resultForm: { rows, entities: 'kind' } });
    onTestFinished(() => own.close());
    const batch = await own.submit({ items: [COMPLEX, protein('GIV')] });
    await own.pass(120_000);
    const all = (await json(0, 'confidences.json', own, batch)) as Confidences;
    expect(Object.keys(all)).toEqual([
      ...['atom_chain_ids', 'atom_plddts', 'pae', 'token_chain_ids', 'token_res_ids'],
    ]);
    const atoms = await readAtoms(own, batch);
    expect(all.atom_chain_ids).toEqual(atoms.map(({ chain }) => chain));
    expect(all.atom_plddts).toEqual(atoms.map(({ b }) => expect.closeTo(b, 2)));
    const tokens = atoms.filter(({ chain, residue, component }, k) => {
      const before = atoms[k - 1];
      return ['SEP', 'ATP'].includes(component) || chain !== before?.chain || residue !== before?.residue;
    });
    expect(all.token_chain_ids).toEqual(tokens.map(({ chain }) => chain));
    expect(all.token_res_ids).toEqual(tokens.map(({ residue }) => residue));

    const { pae } = (await json(0, 'result.json', own, batch)) as { pae: number[][] };
    expect(pae).toHaveLength(rows === 'atom' ? tokens.length : TOKENS);
    // The rows of the result: the file has them as they are, or that of a token for each of its
    // atoms.
    let row = -1;
    const place = tokens.map(({ chain, residue }, k) => {
      const isNext = chain !== tokens[k - 1]?.chain || residue !== tokens[k - 1]?.residue;
      if (rows === 'atom' || isNext) row += 1;
      return row;
    });
    expect(all.pae).toEqual(place.map((r) => place.map((c) => pae[r]?.[c])));

    const summary = await json(0, 'summary_confidences.json', own, batch);
    const raw = await json(0, 'result.json', own, batch);
    const chainRows = ['A', 'L', 'R'].map((chain) =>
      tokens.flatMap((one, k) => (one.chain === chain ? [k] : [])),
    );
    const pairs = at(raw, 'pair_chains_iptm') as number[][];
    const withOthers = pairs.map((row, i) =>
      row.flatMap((value, k) => (k === i ? [] : [value, pairs[k]?.[i] ?? Number.NaN])),
    );
    expect(summary).toEqual({
      chain_iptm: withOthers.map((values) =>
        expect.closeTo(values.reduce((sum, value) => sum + value, 0) / values.length, 12),
      ),
      chain_ptm: pairs.map((row, i) => row[i]),
      chain_pair_iptm: pairs,
      chain_pair_pae_min: chainRows.map((a) =>
        chainRows.map((b) => Math.min(...a.flatMap((r) => b.map((c) => all.pae[r]?.[c] ?? Number.NaN)))),
      ),
      fraction_disordered: null,
      has_clash: null,
      iptm: at(raw, 'interface_ptm'),
      ptm: at(raw, 'ptm'),
      ranking_score: null,
    });
  });
});

describe('structure.cif?pae=1', () => {
  const FILE = 'structure.cif?pae=1';

  it('has the error of each residue aligned on each other one, and those of ligands left out', async () => {
    const answer = await get(0, FILE);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'chemical/x-mmcif; charset=utf-8',
    ]);
    const cif = readCif(await answer.text());
    const plain = readCif(await (await get(0, 'structure.cif')).text());
    expect(cif.get('atom_site')).toEqual(plain.get('atom_site'));
    expect(plain.has('ma_qa_metric_local_pairwise')).toBe(false);

    const pae = at(await json(0, 'result.json'), 'pae') as number[][];
    // A residue of a polymer, and the token of its row; the ligand between the chains has one, too.
    const residues = (cif.get('pdbx_poly_seq_scheme') ?? []).map(({ asym_id, seq_id, mon_id }, k) => ({
      token: k < INSULIN_A.length ? k : k + 1,
      asym_id,
      seq_id,
      mon_id,
    }));
    expect(residues).toHaveLength(TOKENS - 1);
    const metrics = cif.get('ma_qa_metric') ?? [];
    const metric = metrics.find(({ name }) => name === 'PAE');
    expect(metric).toMatchObject({ type: 'PAE', mode: 'local-pairwise' });
    expect(new Set(metrics.map(({ id: one }) => one)).size).toBe(metrics.length);
    const local = metrics.find(({ mode }) => mode === 'local');
    expect(new Set(cif.get('ma_qa_metric_local')?.map(({ metric_id }) => metric_id))).toEqual(
      new Set([local?.id]),
    );
    const expected = residues.flatMap((first) =>
      residues.map((second) => ({
        ...{ model_id: '1', label_asym_id_1: first.asym_id, label_seq_id_1: first.seq_id },
        ...{ label_comp_id_1: first.mon_id, label_asym_id_2: second.asym_id },
        ...{ label_seq_id_2: second.seq_id, label_comp_id_2: second.mon_id, metric_id: metric?.id },
        metric_value: String(pae[first.token]?.[second.token]),
      })),
    );
    expect(cif.get('ma_qa_metric_local_pairwise')).toEqual(
      expected.map((row, k) => ({ ordinal_id: String(k + 1), ...row })),
    );
    // The matrix is not symmetric, so that an order of residues turned around would show.
    expect(pae[0]?.[5]).not.toBe(pae[5]?.[0]);
  });

  it('is another file than the plain one, sent while it is written, with a tag and by a signed link', async () => {
    const [plain, answer] = [await get(0, 'structure.cif'), await get(0, FILE)];
    const [etag, text] = [answer.headers.get('etag') ?? '', await answer.text()];
    expect(etag).not.toBe(plain.headers.get('etag'));
    expect([answer.headers.get('accept-ranges'), answer.headers.get('content-length')]).toEqual([
      'none',
      null,
    ]);
    const again = await get(0, FILE, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get(0, 'structure.cif', { 'if-none-match': etag })).status).toBe(200);
    expect((await get(0, FILE, { authorization: 'Bearer another-key' })).status).toBe(404);
    const { data } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { result { structure { signedUrl } } } }',
      { id: `${id}-00000` },
    );
    const link = `${at(data, 'task.result.structure.signedUrl')}?pae=1`;
    const linked = await bench.gateway.fetch(new Request(link));
    expect([linked.status, await linked.text()]).toEqual([200, text]);
  });

  it('needs errors in the result, and a parameter that can be read', async () => {
    const none = await get(2, FILE);
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('includePae')]);
    bench.forget();
    const wrong = await get(0, 'structure.cif?pae=yes');
    expect([wrong.status, await wrong.text()]).toEqual([400, '`pae` is 1, or left out.\n']);
    expect(bench.counts()).toEqual({});
  });
});

describe('confidence files', () => {
  it('say what they can of results without aligned errors, and of two chains without pair ipTM', async () => {
    const without = (await json(2, 'confidences.json')) as Confidences;
    expect(Object.keys(without)).not.toContain('pae');
    expect(without.token_res_ids).toHaveLength(INSULIN_B.length);
    const alone = (await json(2, 'summary_confidences.json')) as Record<string, unknown>;
    expect(alone).toMatchObject({
      ...{ chain_pair_iptm: null, chain_pair_pae_min: null, iptm: null, ptm: expect.any(Number) },
      ...{ chain_ptm: [alone.ptm], chain_iptm: [null] },
    });
    const summary = (await json(3, 'summary_confidences.json')) as Record<string, unknown>;
    const { iptm, chain_pair_iptm, chain_iptm, chain_ptm } = summary;
    expect({ chain_iptm, chain_ptm }).toEqual({ chain_iptm: [iptm, iptm], chain_ptm: [null, null] });
    expect(chain_pair_iptm).toEqual([
      [null, iptm],
      [iptm, null],
    ]);
  });

  it('have the errors of one chain as AlphaFold DB does', async () => {
    const [all, ...others] = (await json(1, 'pae.json')) as Record<string, unknown>[];
    expect(others).toEqual([]);
    expect(all).toEqual({
      predicted_aligned_error: at(await json(1, 'result.json'), 'pae'),
      max_predicted_aligned_error: 31.75,
    });
    const several = await get(0, 'pae.json');
    expect([several.status, await several.text()]).toEqual([
      404,
      'pae.json is for one chain. confidences.json holds the errors of several.\n',
    ]);
    const none = await get(2, 'pae.json');
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('includePae')]);
  });

  it('are named after their item, sent once, belong to one caller, and open by a signed link', async () => {
    const names = ['confidences.json', 'summary_confidences.json', 'pae.json'];
    for (const file of names) {
      const answer = await get(1, file);
      const text = await answer.text();
      expect(answer.headers.get('content-disposition')).toContain(`filename="alone_${file}"`);
      const etag = answer.headers.get('etag') ?? '';
      const again = await get(1, file, { 'if-none-match': etag });
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect((await get(1, file, { authorization: 'Bearer another-key' })).status).toBe(404);
      const { data } = await bench.ask(
        'query($id: ID!) { task(taskId: $id) { result { files { name url signedUrl } } } }',
        { id: `${id}-00001` },
      );
      const link = listAt(data, 'task.result.files').find((one) => at(one, 'name') === file);
      expect(at(link, 'url')).toBe(`http://gateway.test/tasks/${id}-00001/${file}`);
      const linked = await bench.gateway.fetch(new Request(String(at(link, 'signedUrl'))));
      expect([linked.status, await linked.text()]).toEqual([200, text]);
    }
    const tags = await Promise.all(names.map(async (file) => (await get(1, file)).headers.get('etag')));
    expect(new Set(tags).size).toBe(3);
  });

  it('cost a Status call and a download, like the others', async () => {
    await (await get(0, 'confidences.json')).text();
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
  });

  it('are errors where the errors fit no token', async () => {
    const raw = (await json(0, 'result.json')) as Record<string, unknown>;
    const response = { ...raw, pae: [[1]] };
    const body = { data: { status: 'done', response } };
    await bench.fault({ operation: 'status', times: 1, status: 200, body });
    const answer = await get(0, 'confidences.json');
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('$.pae')]);
  });

  it('stand in the archive, each kind in a folder of its own', async () => {
    const answer = await bench.download(`/batches/${id}/results.zip`);
    const files = unzipSync(new Uint8Array(await answer.arrayBuffer()));
    expect(Object.keys(files).toSorted()).toEqual(
      [
        ...['complex', 'alone', 'without', 'pair'].flatMap((name) => [
          ...[`${name}.json`, `${name}.cif`, `confidences/${name}_confidences.json`],
          `summary_confidences/${name}_summary_confidences.json`,
        ]),
        ...['pae/alone_pae.json', 'scores.tsv', 'manifest.json'],
      ].toSorted(),
    );
    const text = new TextDecoder().decode(files['confidences/complex_confidences.json']);
    expect(text).toBe(await (await get(0, 'confidences.json')).text());
  });

  it.each<[what: string, change: (result: Record<string, unknown>) => object]>([
    ['nothing', () => ({})],
    ['its errors', () => ({ pae: [[1]] })],
    ['its pairs of chains', () => ({ pair_chains_iptm: [[7]] })],
    ['its pTM', () => ({ ptm: 81 })],
    ['its atoms', ({ complex }) => ({ complex: { ...(complex as object), atom_positions: [[1]] } })],
    ['its chains', ({ complex }) => ({ complex: { ...(complex as object), chain_id: [0] } })],
    ['its confidences', () => ({ plddt: [81] })],
    ['its structure, which is not there', () => ({ complex: null })],
    ['its errors, which are not there', () => ({ pae: null })],
    ['its chains, which have long names', ({ complex }) => ({ complex: withLongNames(complex) })],
    ['its embeddings, which are there', ({ pae }) => ({ output_embedding_sequence: pae })],
  ])('are listed, and in the archive, just where their addresses answer: %s', async (_, change) => {
    const raw = (await json(0, 'result.json')) as Record<string, unknown>;
    const batchId = await bench.submit({ items: [COMPLEX] });
    await bench.pass(120_000);
    const response = { ...raw, ...change(raw) };
    const fault = { operation: 'status', status: 200, body: { data: { status: 'done', response } } };
    await bench.fault({ ...fault, times: 99 });
    onTestFinished(
      async () => void (await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' })),
    );
    const archive = await bench.download(`/batches/${batchId}/results.zip`);
    const names = Object.keys(unzipSync(new Uint8Array(await archive.arrayBuffer())));
    const { data } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { result { files { name url } } } } } }',
      { id: batchId },
    );
    const listed = new Map(
      listAt(data, 'batch.tasks.nodes.0.result.files').map((file) => [at(file, 'name'), at(file, 'url')]),
    );
    for (const name of FILES) {
      const url = String(listed.get('result.json')).replace('result.json', name);
      const answer = await bench.download(String(listed.get(name) ?? url));
      await answer.arrayBuffer();
      expect([name, listed.has(name)]).toEqual([name, answer.status === 200]);
      if (name === 'structure.pdb' || name === 'embeddings.npz') continue;
      const entry = /^(result|structure)/.test(name) ? `complex${extname(name)}` : `complex_${name}`;
      const isArchived = names.some((one) => one.split('/').at(-1) === entry);
      expect([name, answer.status === 200]).toEqual([name, isArchived]);
    }
  });
});
