// A result whose chains are not those that were submitted is drift in every field and file, with a
// sentence that names the chain and both values; what the contract leaves open is read.
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { at } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench } from './bench.ts';

const RNA = 'GGAUCCGA';
const ITEM = {
  chains: [
    { protein: { sequence: INSULIN_A, ids: ['A'] } },
    { protein: { sequence: INSULIN_B, ids: ['B', 'C'], modifications: [{ position: 4, ccd: 'MSE' }] } },
    { rna: { sequence: RNA, ids: ['R'] } },
    { dna: { sequence: 'ACGTACGT', ids: ['D'] } },
    { ligand: { ccd: ['NAG', 'NAG'], ids: ['L'] } },
  ],
  includePae: true,
  includePairChainsIptm: true,
};

interface Complex {
  sequence: string[];
  chain_id: number[];
  plddt: number[];
  token_to_atoms: [number, number][];
  atom_hetero: boolean[];
  metadata: { chain_lookup: Record<string, string>; entity_lookup: Record<string, string> };
}
interface Result {
  complex: Complex;
  [member: string]: unknown;
}

/** The result that the sandbox folds of an item. */
async function foldHonestly(item: object): Promise<Result> {
  const bench = await openBench();
  const id = await bench.submit({ items: [item] });
  await bench.pass(120_000);
  const { data } = await bench.ask(
    'query($id: ID!) { batch(batchId: $id) { tasks { nodes { result { resultUrl } } } } }',
    { id },
  );
  const url = String(at(data, 'batch.tasks.nodes.0.result.resultUrl'));
  const result = (await (await bench.download(url)).json()) as Result;
  await bench.close();
  return result;
}

/** A bench with a batch of one task that has this result. */
async function serve(item: object, result: object): Promise<{ readonly bench: Bench; readonly id: string }> {
  const bench = await openBench();
  onTestFinished(() => bench.close());
  const id = await bench.submit({ items: [item] });
  await bench.pass(120_000);
  const body = { data: { status: 'done', response: result } };
  await bench.fault({ operation: 'status', times: 99, status: 200, body });
  return { bench, id };
}

const FIELDS = `task: tasks { nodes { taskId scores { ptm } } }
  ptm: tasks { nodes { result { ptm } } } iptm: tasks { nodes { result { iptm } } }
  plddt: tasks { nodes { result { plddt { mean } } } } pae: tasks { nodes { result { pae { size } } } }
  chains: tasks { nodes { result { chains { id kind sequence } } } }
  pairs: tasks { nodes { result { chainPairs { a b } } } }
  structure: tasks { nodes { result { structure { text } } } }`;
const FIELD_COUNT = 8;
const askAll = ({ bench, id }: Awaited<ReturnType<typeof serve>>) =>
  bench.ask(`query($id: ID!) { batch(batchId: $id) { ${FIELDS} } }`, { id });

/** The tokens of the chains, which a change may cut, rename or put in another order. */
const listTokens = ({ complex }: Result, name: string): number[] => {
  const { chain_id, metadata } = complex;
  return chain_id.flatMap((number, t) => (metadata.chain_lookup[number] === name ? [t] : []));
};
const rename = (result: Result, names: Record<string, string>) => {
  const lookup = result.complex.metadata.chain_lookup;
  for (const [number, name] of Object.entries(lookup)) lookup[number] = names[name] ?? name;
};
/** Names the residues of a chain anew. */
const mutate = (result: Result, chain: string, toName: (name: string, k: number) => string) => {
  for (const [k, t] of listTokens(result, chain).entries())
    result.complex.sequence[t] = toName(result.complex.sequence[t] ?? '', k);
};
/** Keeps or orders the tokens of a result, and leaves the matrices out. */
const pick = ({ complex }: Result, tokens: readonly number[]): Result => {
  const at = <T>(list: readonly T[]) => tokens.flatMap((t) => list.slice(t, t + 1));
  const { sequence, chain_id, plddt, token_to_atoms } = complex;
  const picked = {
    sequence: at(sequence),
    chain_id: at(chain_id),
    plddt: at(plddt),
    token_to_atoms: at(token_to_atoms),
  };
  return { complex: { ...complex, ...picked }, ptm: 0.5, interface_ptm: 0.4 };
};

describe('a result of another molecule', () => {
  let honest: Result;
  beforeAll(async () => {
    honest = await foldHonestly(ITEM);
  }, 60_000);
  const lie = (change: (result: Result) => Result | undefined): Result => {
    const result = structuredClone(honest);
    return change(result) ?? result;
  };
  const all = () => honest.complex.sequence.map((_, t) => t);
  const without = (chain: string) => all().filter((t) => !listTokens(honest, chain).includes(t));

  const LIES: [string, (result: Result) => Result | undefined, RegExp][] = [
    [
      'whose chains are swapped',
      (r) => void rename(r, { A: 'B', B: 'A' }),
      /as chain A a protein of 21 residues was submitted, and the result has a protein of 30 residues/,
    ],
    [
      'whose chain is renamed',
      (r) => void rename(r, { A: 'Z' }),
      /chain A was submitted as a protein of 21 residues, and the result has only Z, B, C, R, D, L/,
    ],
    [
      'of a protein with one other residue',
      (r) => void mutate(r, 'A', (name, k) => (k === 3 ? 'TRP' : name)),
      /as chain A a protein of 21 residues with the hash [0-9a-f]{32} was submitted.* the hash [0-9a-f]{32}/,
    ],
    [
      'of one copy with another residue',
      (r) => void mutate(r, 'C', (name, k) => (k === 3 ? 'TRP' : name)),
      /as chain C a protein of 30 residues with the hash/,
    ],
    [
      'of another strand',
      (r) => void mutate(r, 'R', (name, k) => (k === 0 ? 'C' : name)),
      /as chain R RNA of 8 residues with the hash/,
    ],
    [
      'of RNA in place of DNA',
      (r) => void mutate(r, 'D', () => 'A'),
      /as chain D DNA of 8 residues was submitted, and the result has RNA of 8 residues/,
    ],
    [
      'without a chain',
      (r) => pick(r, without('R')),
      /chain R was submitted as RNA of 8 residues, and the result has only A, B, C, D, L/,
    ],
    ['without its ligand', (r) => pick(r, without('L')), /chain L was submitted as a ligand/],
    [
      'with a residue less',
      (r) => pick(r, all().slice(1)),
      /a protein of 21 residues was submitted, and the result has a protein of 20 residues/,
    ],
    [
      'with a chain more',
      (r) => {
        const more = pick(r, [...all(), ...listTokens(r, 'R')]);
        more.complex.chain_id.fill(9, all().length);
        more.complex.metadata.chain_lookup['9'] = 'X';
        return more;
      },
      /6 chains were submitted, and the result has 7: A, B, C, R, D, L, X/,
    ],
    [
      'with a peptide in place of the ligand',
      (r) => {
        mutate(r, 'L', () => 'ALA');
        r.complex.atom_hetero = r.complex.atom_hetero.map(() => false);
        r.complex.metadata.entity_lookup = {};
        return undefined;
      },
      /as chain L a ligand was submitted, and the result has a protein of 2 residues/,
    ],
  ];

  it.each(LIES)('%s is drift in every field and file', async (_, change, reason) => {
    const place = await serve(ITEM, lie(change));
    const { bench, id } = place;
    bench.forget();
    const { errors } = await askAll(place);
    const calls = bench.counts();
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['UPSTREAM_DRIFT']));
    expect(errors).toHaveLength(FIELD_COUNT);
    for (const { message } of errors ?? []) {
      expect(message).toMatch(reason);
      expect(message).toMatch(/^Task \S+: .* Report it to the service: the fold was paid/);
    }
    const { data } = await bench.ask(
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { taskId result { raw(path: "ptm") } } } } }',
      { id },
    );
    expect(at(data, 'batch.tasks.nodes.0.result.raw'), 'what came can be read').toEqual(expect.any(Number));
    const task = String(at(data, 'batch.tasks.nodes.0.taskId'));
    const statuses: Record<string, number> = {};
    for (const file of ['structure.cif', 'structure.pdb', 'summary_confidences.json', 'result.json'])
      statuses[file] = (await bench.download(`/tasks/${task}/${file}`)).status;
    expect(statuses).toEqual({
      'structure.cif': 502,
      'structure.pdb': 502,
      'summary_confidences.json': 502,
      'result.json': 200,
    });
    const truth = await serve(ITEM, honest);
    truth.bench.forget();
    expect((await askAll(truth)).errors).toBeUndefined();
    expect(calls, 'no call more').toEqual(truth.bench.counts());
  });

  it.each<[string, (result: Result) => Result | undefined]>([
    ['nothing else', () => undefined],
    ['chains in another order', (r) => pick(r, [...without('A'), ...listTokens(r, 'A')])],
    ['a modified residue under its parent', (r) => void mutate(r, 'B', (n, k) => (k === 4 ? 'GLN' : n))],
    ['a modified residue under another name', (r) => void mutate(r, 'B', (n, k) => (k === 4 ? 'QQQ' : n))],
    ['residues that it does not tell', (r) => void mutate(r, 'A', (n, k) => (k === 4 ? 'UNK' : n))],
    ['a ligand of one token', (r) => pick(r, all().slice(0, -1))],
  ])('is not one with %s', async (_, change) => {
    const { errors } = await askAll(await serve(ITEM, lie(change)));
    expect(errors).toBeUndefined();
  });

  it('is not compared where the batch was submitted elsewhere, and has one name for each chain', async () => {
    const two = lie((r) => void rename(r, { B: 'A' }));
    const apart = lie((r) => {
      r.complex.chain_id[3] = 1;
      return undefined;
    });
    for (const [result, isRefused] of [
      [lie((r) => void rename(r, { A: 'Z' })), false],
      [two, true],
      [apart, true],
    ] as const) {
      const { bench } = await serve(ITEM, result);
      const { data, errors } = await bench.ask(
        '{ task(taskId: "of-another-gateway-00000") { result { ptm chains { id } } } }',
      );
      if (isRefused) {
        expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
          ['chains', 'UPSTREAM_DRIFT'],
        ]);
        expect(errors?.[0]?.message).toMatch(/one name for each chain.*seen "[AB]" twice/);
      } else expect(at(data, 'task.result.chains.0.id')).toBe('Z');
    }
  });
});

describe('chains that the service names', () => {
  const unnamed = {
    chains: [
      { protein: { sequence: INSULIN_B } },
      { protein: { sequence: INSULIN_A, ids: ['A'] } },
      { rna: { sequence: RNA } },
    ],
  };
  it('may have any name and order, and are still those that were submitted', async () => {
    const honest = await foldHonestly(unnamed);
    const renamed = structuredClone(honest);
    rename(renamed, { B: 'X', C: 'Y' });
    expect((await askAll(await serve(unnamed, renamed))).errors).toBeUndefined();
    mutate(renamed, 'Y', (name, k) => (k === 0 ? 'U' : name));
    const { errors } = await askAll(await serve(unnamed, renamed));
    expect(errors).toHaveLength(FIELD_COUNT);
    expect(errors?.[0]?.message).toMatch(/as chain Y RNA of 8 residues with the hash/);
  });
});
