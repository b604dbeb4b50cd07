// Results through GraphQL, every number against an independent computation on the JSON behind the
// signed URL, and what each costs upstream.
import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein } from './bench.ts';

/** Haemoglobin subunit alpha, which the small universe holds. */
const HBA =
  'MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR';

let bench: Bench;
let batchId: string;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100, submissionsPerMinute: 1000 } });
  batchId = await bench.submit({
    repeat: 2,
    items: [
      {
        name: 'dimer with ligand',
        chains: [{ protein: { sequence: HBA, ids: ['A', 'B'] } }, { ligand: { ccd: ['ATP'], ids: ['L'] } }],
        includePae: true,
        includePairChainsIptm: true,
      },
      {
        name: 'protein and RNA',
        chains: [
          { protein: { sequence: INSULIN_B, ids: ['P'] } },
          { rna: { sequence: 'GGGAAACCC', ids: ['R'] } },
        ],
      },
    ],
  });
  await bench.pass(60_000);
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const taskId = (index: number) => `${batchId}-${String(index).padStart(5, '0')}`;
const read = async (selection: string, index = 0) => {
  const { data, errors } = await bench.ask(
    `query($id: ID!) { task(taskId: $id) { result { ${selection} } } }`,
    { id: taskId(index) },
  );
  expect(errors).toBeUndefined();
  return at(data, 'task.result');
};
/** The result as it came. */
const original = async (index = 0): Promise<Record<string, unknown>> => {
  const answer = await bench.download(`/tasks/${taskId(index)}/result.json`);
  bench.forget();
  return (await answer.json()) as Record<string, unknown>;
};
const numbers = (value: unknown): number[] => (value as (number | null)[]).filter((n) => n !== null);
const mean = (values: readonly number[]) => values.reduce((sum, n) => sum + n, 0) / values.length;

describe('a result', () => {
  it('has the scores of its JSON', async () => {
    const json = await original();
    const result = await read('ptm iptm model warnings plddt { mean length unit: mean(scale: UNIT) }');
    expect(result).toMatchObject({
      ptm: json.ptm,
      iptm: json.interface_ptm,
      model: json.model,
      warnings: json.warning_messages,
    });
    expect(at(result, 'plddt.unit')).toBeCloseTo(mean(numbers(json.plddt)), 12);
    expect(at(result, 'plddt.mean')).toBeCloseTo(100 * mean(numbers(json.plddt)), 9);
    expect(at(result, 'plddt.length')).toBe((json.plddt as unknown[]).length);
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
  });

  it('has pLDDT in slices, scales and bands, null slots kept', async () => {
    const json = await original();
    const all = json.plddt as (number | null)[];
    expect(all.filter((value) => value === null)).toHaveLength(2);
    const { plddt } = (await read(
      'plddt { part: values(start: 100, end: 160) unit: values(scale: UNIT) bands { band percent } }',
    )) as {
      plddt: {
        part: (number | null)[];
        unit: (number | null)[];
        bands: { band: string; percent: number }[];
      };
    };
    expect(plddt.unit).toEqual(all);
    expect(plddt.part).toHaveLength(60);
    for (const [i, value] of plddt.part.entries()) {
      const expected = all[100 + i];
      if (expected == null) expect(value).toBeNull();
      else expect(value).toBeCloseTo(expected * 100, 9);
    }
    const known = numbers(all);
    const share = (from: number, to: number) =>
      Number(((100 * known.filter((v) => v >= from && v < to).length) / known.length).toPrecision(15));
    expect(plddt.bands).toEqual([
      { band: 'VERY_HIGH', percent: share(0.9, 2) },
      { band: 'CONFIDENT', percent: share(0.7, 0.9) },
      { band: 'LOW', percent: share(0.5, 0.7) },
      { band: 'VERY_LOW', percent: share(-1, 0.5) },
    ]);
    const { errors } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { result { plddt { values(start: 5, end: 2) } } } }',
      { id: taskId(0) },
    );
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('has the pLDDT of its k-th chain from tokenStart + k on, because each break is a position', async () => {
    const { plddt, chains } = (await read(
      'plddt { length values } chains { tokenStart tokenEnd meanPlddt }',
    )) as {
      plddt: { length: number; values: (number | null)[] };
      chains: { tokenStart: number; tokenEnd: number; meanPlddt: number }[];
    };
    expect(plddt.length).toBe((chains.at(-1)?.tokenEnd ?? 0) + chains.length - 1);
    for (const [k, { tokenStart, tokenEnd, meanPlddt }] of chains.entries()) {
      const own = plddt.values.slice(tokenStart + k, tokenEnd + k);
      expect(own).not.toContain(null);
      expect(mean(numbers(own))).toBeCloseTo(meanPlddt, 9);
    }
  });

  it('has its chains with token ranges, sequences, hashes and the proteins of the Atlas', async () => {
    const json = await original();
    const ids = at(json, 'complex.chain_id') as number[];
    const hash = createHash('md5').update(HBA).digest('hex');
    const { chains } = (await read(
      'chains { id kind tokenStart tokenEnd sequence proteinHash meanPlddt(scale: UNIT) protein { accession hash } }',
    )) as { chains: { id: string; tokenStart: number; tokenEnd: number; meanPlddt: number }[] };
    expect(chains).toMatchObject([
      {
        id: 'A',
        kind: 'PROTEIN',
        tokenStart: 0,
        tokenEnd: 142,
        sequence: HBA,
        proteinHash: hash,
        protein: { accession: 'P69905', hash },
      },
      {
        id: 'B',
        kind: 'PROTEIN',
        tokenStart: 142,
        tokenEnd: 284,
        sequence: HBA,
        proteinHash: hash,
        protein: { hash },
      },
      {
        id: 'L',
        kind: 'LIGAND',
        tokenStart: 284,
        tokenEnd: ids.length,
        sequence: null,
        proteinHash: null,
        protein: null,
      },
    ]);
    const perToken = at(json, 'complex.plddt') as number[];
    for (const { tokenStart, tokenEnd, meanPlddt } of chains) {
      expect(meanPlddt).toBeCloseTo(mean(perToken.slice(tokenStart, tokenEnd)), 12);
    }
    // One Status, one download, and one call for both copies in the Atlas.
    expect(bench.counts()).toMatchObject({ status: 1, download: 1 });
    expect(bench.calls).toHaveLength(3);
  });

  it('has PAE blocks, and the mean errors of chain pairs over both directions', async () => {
    const json = await original();
    const pae = json.pae as number[][];
    const size = pae.length;
    const result = await read(`pae {
      size max
      whole: block(maxPoints: 100) { step rowEnd values }
      corner: block(rowStart: 10, rowEnd: 14, columnStart: 3, columnEnd: 9) { rowStart rowEnd columnStart columnEnd step values }
    }
    chainPairs { a b meanPae }`);
    expect(at(result, 'pae')).toMatchObject({ size, max: Math.max(...pae.flat()) });
    expect(at(result, 'pae.corner')).toEqual({
      ...{ rowStart: 10, rowEnd: 14, columnStart: 3, columnEnd: 9, step: 1 },
      values: pae.slice(10, 14).map((row) => row.slice(3, 9)),
    });
    const step = Number(at(result, 'pae.whole.step'));
    const values = at(result, 'pae.whole.values') as number[][];
    expect(values.length * (values[0]?.length ?? 0)).toBeLessThanOrEqual(100);
    for (const [i, row] of values.entries()) {
      for (const [k, value] of row.entries()) {
        const cells = pae.slice(i * step, (i + 1) * step).flatMap((r) => r.slice(k * step, (k + 1) * step));
        expect(value).toBeCloseTo(mean(cells), 9);
      }
    }
    const ab = listAt(result, 'chainPairs').find((pair) => at(pair, 'a') === 'A' && at(pair, 'b') === 'B');
    const [a, b] = [pae.slice(0, 142), pae.slice(142, 284)];
    const cells = [...a.flatMap((row) => row.slice(142, 284)), ...b.flatMap((row) => row.slice(0, 142))];
    expect(at(ab, 'meanPae')).toBeCloseTo(mean(cells), 6);
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
    const { errors } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { result { pae { block(rowStart: 9, rowEnd: 3) { step } } } } }',
      { id: taskId(0) },
    );
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('has the ipTM of pairs by chain id', async () => {
    const json = await original();
    const matrix = json.pair_chains_iptm as number[][];
    const { chainPairs } = (await read('chainPairs { a b iptm }')) as {
      chainPairs: { a: string; b: string; iptm: number }[];
    };
    const names = ['A', 'B', 'L'];
    expect(chainPairs).toHaveLength(9);
    for (const { a, b, iptm } of chainPairs) {
      expect(iptm).toBe(matrix[names.indexOf(a)]?.[names.indexOf(b)]);
    }
  });

  it('has what was not asked for as null or empty, never as an error', async () => {
    const scores = 'iptm ipsae ipsaeMax pDockQ pDockQ2 lis meanPae minPae';
    const none = Object.fromEntries(scores.split(' ').map((name) => [name, null]));
    // Contacts and pLDDT are there always.
    const pair = { ...none, pDockQ: expect.any(Number) };
    expect(await read(`pae { size } chainPairs { ${scores} } embeddings { url } iptm`, 1)).toEqual({
      ...{ pae: null, chainPairs: [pair, pair], embeddings: null },
      iptm: expect.any(Number),
    });
  });

  it('has its structure as mmCIF and PDB, with all atoms', async () => {
    const json = await original();
    const atoms = (at(json, 'complex.atom_names') as string[]).length;
    const { cif, pdb } = (await read(
      'cif: structure { format url text atomCount } pdb: structure(format: PDB) { format url text atomCount }',
    )) as Record<'cif' | 'pdb', { text: string; url: string; atomCount: number }>;
    expect([cif?.atomCount, pdb?.atomCount]).toEqual([atoms, atoms]);
    expect(cif?.text.match(/^(ATOM|HETATM)/gm)).toHaveLength(atoms);
    expect(pdb?.text.match(/^(ATOM|HETATM)/gm)).toHaveLength(atoms);
    expect(cif?.url).toBe(`http://gateway.test/tasks/${taskId(0)}/structure.cif`);
    expect(pdb?.url).toBe(`http://gateway.test/tasks/${taskId(0)}/structure.pdb`);
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
  });

  it('is null with the reason where PDB cannot hold its structure; mmCIF holds it', async () => {
    const id = await bench.submit({
      items: [{ chains: [{ protein: { sequence: INSULIN_A, ids: ['heavy'] } }] }],
    });
    await bench.pass(60_000);
    const { data, errors } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { result { pdb: structure(format: PDB) { text } cif: structure { atomCount } } } } } }',
      { id },
    );
    expect(at(listAt(data, 'batch.tasks.nodes')[0], 'result')).toMatchObject({
      pdb: null,
      cif: { atomCount: expect.any(Number) },
    });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/MMCIF/),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  it('costs no download for its addresses', async () => {
    const result = await read('resultUrl structure { url format }');
    expect(result).toMatchObject({
      resultUrl: `http://gateway.test/tasks/${taskId(0)}/result.json`,
    });
    expect(bench.counts()).toEqual({ status: 1 });
  });

  it('is there as it came, whole or by a path', async () => {
    const json = await original();
    const result = await read(
      'whole: raw names: raw(path: "complex.metadata.chain_lookup") nothing: raw(path: "no.such.thing")',
    );
    expect(result).toEqual({ whole: json, names: at(json, 'complex.metadata.chain_lookup'), nothing: null });
  });

  it('is fetched without the token', async () => {
    await read('model');
    const download = bench.calls.find(({ operation }) => operation === 'download');
    expect(download?.headers).not.toHaveProperty('authorization');
  });
});

describe('a result of several megabytes', () => {
  it('gives the same numbers, and is downloaded once however much is asked of it', async () => {
    const id = await bench.submit({
      items: [
        { name: 'large', chains: [{ protein: { sequence: HBA.repeat(4), ids: ['A'] } }], includePae: true },
        protein('GIV'),
      ],
    });
    await bench.pass(60_000);
    bench.forget();
    const large = `${id}-00000`;
    const { data, errors } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { result { resultUrl ptm plddt { mean(scale: UNIT) } pae { size block(maxPoints: 4) { step values } } structure { atomCount } } again: result { structure { text } plddt { values } } } }',
      { id: large },
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'task.again.plddt.values')).toHaveLength(568);
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
    const result = at(data, 'task.result');
    const text = await (await bench.download(String(at(result, 'resultUrl')))).text();
    expect(text.length).toBeGreaterThan(1_000_000);
    const json: unknown = JSON.parse(text);
    const pae = at(json, 'pae') as number[][];
    expect(at(result, 'pae.size')).toBe(568);
    expect(at(result, 'ptm')).toBe(at(json, 'ptm'));
    expect(at(result, 'plddt.mean')).toBeCloseTo(mean(numbers(at(json, 'plddt'))), 12);
    expect(at(result, 'structure.atomCount')).toBe((at(json, 'complex.atom_names') as unknown[]).length);
    expect(at(result, 'pae.block.step')).toBe(284);
    const [[first] = []] = at(result, 'pae.block.values') as number[][];
    expect(first).toBeCloseTo(mean(pae.slice(0, 284).flatMap((row) => row.slice(0, 284))), 9);
  });
});

describe('a result of another shape', () => {
  it('has what it has, nulls for the rest, and keeps unknown keys', async () => {
    await bench.fault({ operation: 'download', status: 200, body: { ptm: 0.5, something_new: { a: [1] } } });
    expect(
      await read(
        'ptm iptm model warnings plddt { mean } pae { size } chains { id } chainPairs { a } embeddings { url } structure { text } raw(path: "something_new.a.0")',
        2,
      ),
    ).toEqual({
      ...{
        ptm: 0.5,
        iptm: null,
        model: null,
        warnings: [],
        plddt: null,
        pae: null,
        chains: [],
        chainPairs: [],
      },
      ...{ embeddings: null, structure: null, raw: 1 },
    });
  });

  it('has no structure without atoms, whatever is asked of it', async () => {
    const named = { chain_id: [0, 0], metadata: { chain_lookup: { '0': 'A' } } };
    const body = { complex: { sequence: ['ALA', 'GLY'], atom_positions: [], ...named } };
    const id = await bench.submit({ items: [protein('AG'), protein('GIV')] });
    await bench.pass(60_000);
    await bench.fault({ operation: 'download', status: 200, body });
    const { data, errors } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { result { chains { sequence } structure { text } pdb: structure(format: PDB) { text } } } }',
      { id: `${id}-00000` },
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'task.result')).toEqual({ chains: [{ sequence: 'AG' }], structure: null, pdb: null });
  });

  it('tells the shapes of its embeddings and serves them as a NumPy archive', async () => {
    const body = {
      output_embedding_sequence: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      output_embedding_pair_pooled: [[0.5], [1.5]],
    };
    await bench.fault({ operation: 'download', status: 200, body });
    const result = await read('embeddings { sequenceShape pairShape url }', 3);
    const url = `http://gateway.test/tasks/${taskId(3)}/embeddings.npz`;
    expect(result).toEqual({ embeddings: { sequenceShape: [2, 3], pairShape: [2, 1], url } });
    await bench.fault({ operation: 'download', status: 200, body });
    const answer = await bench.download(url);
    const files = unzipSync(new Uint8Array(await answer.arrayBuffer()));
    expect(Object.keys(files)).toEqual(['sequence.npy', 'pair_pooled.npy']);
    expect(files['sequence.npy']?.byteLength).toBe(128 + 2 * 3 * 4);
  });

  it('has null in place of numbers that are too large, as in place of NaN', async () => {
    const body = '{"ptm": 1e999, "pae": [[1e999, 2], [NaN, 4]]}';
    await bench.fault({ operation: 'download', status: 200, body });
    expect(await read('pae { max block { values } } raw(path: "pae")', 1)).toEqual({
      pae: {
        max: 4,
        block: {
          values: [
            [null, 2],
            [null, 4],
          ],
        },
      },
      raw: [
        [null, 2],
        [null, 4],
      ],
    });
  });

  it.each([
    '<html>',
    'null',
    '[]',
    '5',
    '{}',
    '{"message": "no such key"}',
    '{"data": {"model": "m"}}',
  ])('is an error at its path where it is no folding result (%s), and no score is kept', async (body) => {
    const id = await bench.submit({ items: [protein('GIVEQ', 'tiny'), protein('GIV')] });
    await bench.pass(60_000);
    const scores = () =>
      bench.ask('query($id: ID!) { task(taskId: $id) { name result { ptm model } } }', { id: `${id}-00000` });
    await bench.fault({ operation: 'download', status: 200, body });
    const { data, errors } = await scores();
    expect(data).toEqual({ task: { name: 'tiny', result: { ptm: null, model: null } } });
    for (const field of ['ptm', 'model'])
      expect(errors).toContainEqual(
        expect.objectContaining({
          path: ['task', 'result', field],
          extensions: expect.objectContaining({ code: 'UPSTREAM_DRIFT' }),
        }),
      );
    const result = { ptm: expect.any(Number), model: expect.any(String) };
    expect(await scores()).toEqual({ data: { task: { name: 'tiny', result } } });
  });
});

describe('a result', () => {
  it.each([
    ['values behind their mean', 'task(taskId: $task) { result { plddt { values } } }'],
    ['scores, then its parts', 'task(taskId: $task) { scores { ptm } result { model chains { id } } }'],
    ['two fields', 'a: task(taskId: $task) { result { model } } b: task(taskId: $task) { result { ptm } }'],
    [
      'a ranking and what it shows',
      'batch(batchId: $id) { tasks(orderBy: PTM) { nodes { result { model } } } }',
    ],
  ])('is downloaded once for a request, for %s, also when its address had expired', async (_, query) => {
    for (const hasExpired of [false, true]) {
      const id = await bench.submit({ items: [protein('GIVEQ')], repeat: 2 });
      await bench.pass(60_000);
      if (hasExpired) await bench.fault({ operation: 'download', status: 403, body: 'expired' });
      bench.forget();
      const { errors } = await bench.ask(
        `query($id: ID!, $task: ID!) { ${query}
          here: task(taskId: $task) { taskId } same: batch(batchId: $id) { batchId } }`,
        { id, task: `${id}-00000` },
      );
      expect(errors).toBeUndefined();
      const results = query.startsWith('batch') ? 2 : 1;
      const renewed = hasExpired ? 1 : 0;
      expect(bench.counts()).toMatchObject({ status: results + renewed, download: results + renewed });
    }
  });
});

describe('a Status that fails', () => {
  it('keeps the names and states of the tasks of a batch', async () => {
    await bench.fault({ operation: 'status', status: 403, times: 99, body: { message: 'no' } });
    const { data, errors } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks(first: 2) { nodes { name status warnings artifacts { name } } } } }',
      { id: batchId },
    );
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    const lost = { status: 'DONE', warnings: null, artifacts: null };
    expect(at(data, 'batch.tasks.nodes')).toEqual([
      { name: 'dimer with ligand', ...lost },
      { name: 'protein and RNA', ...lost },
    ]);
    expect(errors?.map(({ path }) => path?.slice(2).join('.')).sort()).toEqual([
      ...['nodes.0.artifacts', 'nodes.0.warnings', 'nodes.1.artifacts', 'nodes.1.warnings'],
    ]);
  });

  it('keeps the state that List gives, also where List says nothing of results', async () => {
    const items = [0, 1].map((i) => ({ task_id: taskId(i), status: 'done' }));
    const body = { data: { status: 'done', counts: { done: 2 }, items, cursor: null } };
    await bench.fault({ operation: 'list', status: 200, body });
    await bench.fault({ operation: 'status', status: 403, times: 99, body: { message: 'no' } });
    const query = 'query($id: ID!) { batch(batchId: $id) { tasks { nodes { status } } } }';
    const { data, errors } = await bench.ask(query, { id: batchId });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    expect([at(data, 'batch.tasks.nodes'), errors]).toEqual([
      [{ status: 'DONE' }, { status: 'DONE' }],
      undefined,
    ]);
    expect(bench.counts()).toEqual({ list: 1, status: 1 });
  });
});

describe('a signature', () => {
  it.each([400, 401, 403, 410])('that has expired (%i) is renewed once', async (status) => {
    await bench.fault({ operation: 'download', status, body: 'expired' });
    expect(await read('model')).toEqual({ model: expect.any(String) });
    expect(bench.counts()).toEqual({ status: 2, download: 2 });
  });

  it('is an error at its path where it never works, and not tried for ever', async () => {
    await bench.fault({ operation: 'download', status: 403, times: 2, body: 'no' });
    const { data, errors } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { status result { model } } }',
      { id: taskId(0) },
    );
    expect(data).toEqual({ task: { status: 'DONE', result: { model: null } } });
    expect(errors?.[0]).toMatchObject({
      path: ['task', 'result', 'model'],
      extensions: { code: 'UPSTREAM_UNAVAILABLE' },
    });
    expect(bench.counts()).toEqual({ status: 2, download: 2 });
  });
});

const RANK = `query($id: ID!) { batch(batchId: $id) { tasks(first: 1000) { nodes { name status error { code message } result { ptm iptm plddt { mean } } scores { ptm } } } } }`;

describe('ranking', () => {
  it('reads Status only for done tasks, and the second time downloads nothing', async () => {
    const id = await bench.submit({
      items: [protein('GIVEQ', 'x'), protein('A'.repeat(4100), 'too long'), protein('CCTSI', 'y')],
    });
    await bench.pass(60_000);
    bench.forget();
    const { data, errors } = await bench.ask(RANK, { id });
    expect(errors).toBeUndefined();
    const nodes = listAt(data, 'batch.tasks.nodes');
    expect(nodes[1]).toEqual({
      ...{
        name: 'too long',
        status: 'FAILED',
        result: null,
        scores: null,
      },
      error: { code: null, message: 'CUDA out of memory' },
    });
    expect(at(nodes[0], 'result')).toEqual({
      ptm: expect.any(Number),
      iptm: null,
      plddt: { mean: expect.any(Number) },
    });
    expect(at(nodes[0], 'scores.ptm')).toBe(at(nodes[0], 'result.ptm'));
    expect(bench.counts()).toEqual({ list: 1, status: 2, download: 2 });
    bench.forget();
    expect(await bench.ask(RANK, { id })).toEqual({ data });
    expect(bench.counts()).toEqual({ list: 1 });
  });

  it('asks Status where List does not say that there is a result', async () => {
    const items = [0, 1].map((index) => ({ task_id: taskId(index), status: 'done' }));
    const body = { data: { batch_id: batchId, status: 'done', counts: { done: 2 }, items, cursor: null } };
    await bench.fault({ operation: 'list', status: 200, body });
    const { data } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { result { resultUrl } } } } }',
      { id: batchId },
    );
    expect(listAt(data, 'batch.tasks.nodes')).toEqual(
      [0, 1].map((index) => ({
        result: { resultUrl: `http://gateway.test/tasks/${taskId(index)}/result.json` },
      })),
    );
    expect(bench.counts()).toEqual({ list: 1, status: 2 });
  });

  it('reads many at a time, but not all', async () => {
    const id = await bench.submit({
      items: Array.from({ length: 24 }, (_, i) =>
        protein(`GIV${'ACDEFGHIKLMNPQRSTVWYACDE'.charAt(i)}${'A'.repeat(i)}`),
      ),
    });
    await bench.pass(60_000);
    await bench.fault({ operation: 'status', delay_ms: 100, times: 24 });
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, bench.gateway.upstream().api.inFlight);
    }, 5);
    const { errors } = await bench.ask(RANK, { id });
    clearInterval(looking);
    expect(errors).toBeUndefined();
    // 24 Status calls take 100 ms each.
    expect(most).toBe(8);
  });

  it('shows one caller nothing of another', async () => {
    const { data } = await bench.ask(RANK, { id: batchId }, 'another-key');
    expect(data).toEqual({ batch: null });
  });
});

describe('after 31 days', () => {
  it('results are EXPIRED without an error, scores that were read outlive them', async () => {
    const id = await bench.submit({ items: [protein('GIVEQC', 'old'), protein('SLYQLE', 'older')] });
    await bench.pass(60_000);
    const { data: before } = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { scores { ptm iptm meanPlddt } } }',
      { id: `${id}-00000` },
    );
    await bench.pass(31 * 24 * 3_600_000);
    bench.forget();
    const { data, errors } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { name status result { ptm } scores { ptm iptm meanPlddt } artifacts { name } } } } }',
      { id },
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'batch.tasks.nodes')).toEqual([
      {
        name: 'old',
        status: 'EXPIRED',
        result: null,
        scores: at(before, 'task.scores'),
        artifacts: [],
      },
      {
        name: 'older',
        status: 'EXPIRED',
        result: null,
        scores: null,
        artifacts: [],
      },
    ]);
    const single = await bench.ask(
      'query($id: ID!) { task(taskId: $id) { name status result { ptm } resultsExpireAt } }',
      { id: `${id}-00001` },
    );
    expect(single).toMatchObject({
      data: {
        task: {
          name: 'older',
          status: 'EXPIRED',
          result: null,
          resultsExpireAt: expect.any(String),
        },
      },
    });
    expect(single.errors).toBeUndefined();
  });

  it('the reason of a failure has expired, and is not said never to have been given', async () => {
    const id = await bench.submit({ items: [protein('A'.repeat(4100), 'too long'), protein('CCTSI', 'y')] });
    await bench.pass(60_000);
    await bench.pass(31 * 24 * 3_600_000);
    const { data, errors } = await bench.ask(
      `query($id: ID!, $task: ID!) {
        batch(batchId: $id) { tasks { nodes { status error { code message raw } } } }
        task(taskId: $task) { status error { code message raw } } }`,
      { id, task: `${id}-00000` },
    );
    expect(errors).toBeUndefined();
    const message = 'The task failed; its reason has expired with the results of the batch.';
    const failed = { status: 'FAILED', error: { code: null, message, raw: null } };
    expect(data).toEqual({
      batch: { tasks: { nodes: [failed, { status: 'EXPIRED', error: null }] } },
      task: failed,
    });
  });
});
