// Covalent bonds of a submission in the files of its results: the service does not list them, and
// may not have closed them.
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { readCif } from '../structure/read-cif.ts';
import { at } from '../support.ts';
import { type Bench, openBench } from './bench.ts';

const KEY = 'key-of-a-test';
type End = readonly [chain: string, residue: number, atom: string | number];
const toBond = (...ends: readonly [End, End]) =>
  Object.fromEntries(
    ends.flatMap(([chain, residue, atom], k) => [
      [`chainId${k + 1}`, chain],
      [`residueIndex${k + 1}`, residue],
      [`${typeof atom === 'string' ? 'atomName' : 'atomIndex'}${k + 1}`, atom],
    ]),
  );

let bench: Bench;
let batchId: string;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
  batchId = await bench.submit({
    idempotencyKey: 'bonds',
    items: [
      {
        name: 'bonded',
        chains: [
          { protein: { ids: ['A'], sequence: 'GKAHDGAH' } },
          { ligand: { ids: ['Z'], ccd: ['ZN'] } },
          { ligand: { ids: ['S'], smiles: 'CCOCC' } },
        ],
        covalentBonds: [
          // An isopeptide bond and a ring, which the sandbox does not close, a metal, and an atom
          // by its index.
          toBond(['A', 1, 'NZ'], ['A', 4, 'CG']),
          toBond(['A', 0, 'N'], ['A', 7, 'C']),
          toBond(['A', 3, 'NE2'], ['Z', 0, 'ZN']),
          toBond(['A', 4, 'OD1'], ['S', 0, 2]),
        ],
      },
      { name: 'plain', chains: [{ protein: { sequence: 'GKAHDGAH' } }] },
    ],
    repeat: 2,
  });
  await bench.pass(120_000);
});
afterAll(() => bench.close());

const file = async (name: string, index = 0) =>
  (await bench.download(`/tasks/${batchId}-0000${index}/${name}`)).text();
const bondsIn = (cif: string) =>
  readCif(cif)
    .get('struct_conn')
    ?.map((row) => [
      row.conn_type_id,
      `${row.ptnr1_auth_asym_id}${row.ptnr1_auth_seq_id} ${row.ptnr1_label_atom_id}`,
      `${row.ptnr2_auth_asym_id}${row.ptnr2_auth_seq_id} ${row.ptnr2_label_atom_id}`,
      row.details,
    ]);

it('each is in the mmCIF with its length, within a chain as well, in every repeat', async () => {
  const cif = await file('structure.cif');
  expect(bondsIn(cif)).toEqual([
    ['covale', 'A2 NZ', 'A5 CG', 'declared'],
    ['covale', 'A1 N', 'A8 C', 'declared'],
    ['metalc', 'A4 NE2', 'Z1 ZN', 'declared'],
    ['covale', 'A5 OD1', 'S1 O1', 'declared'],
  ]);
  const places = new Map(
    readCif(cif)
      .get('atom_site')
      ?.map((row) => [
        `${row.auth_asym_id}${row.auth_seq_id} ${row.label_atom_id}`,
        [Number(row.Cartn_x), Number(row.Cartn_y), Number(row.Cartn_z)] as const,
      ]),
  );
  const lengths = readCif(cif)
    .get('struct_conn')
    ?.map((row) => Number(row.pdbx_dist_value));
  for (const [k, [, from = '', to = '']] of (bondsIn(cif) ?? []).entries()) {
    const [[x = 0, y = 0, z = 0] = [], [u = 0, v = 0, w = 0] = []] = [places.get(from), places.get(to)];
    expect(lengths?.[k]).toBeCloseTo(Math.hypot(x - u, y - v, z - w), 2);
  }
  expect(Math.max(...(lengths ?? []))).toBeGreaterThan(3);
  expect(bondsIn(await file('structure.cif', 2))).toEqual(bondsIn(cif));
  expect(bondsIn(await file('structure.cif', 1))).toBeUndefined();
});

it('each is LINK and CONECT in the PDB file', async () => {
  const lines = (await file('structure.pdb')).split('\n');
  const links = lines.filter((line) => line.startsWith('LINK'));
  expect(links.map((line) => `${line.slice(12, 26)}-${line.slice(42, 56)}`)).toEqual([
    ' NZ  LYS A   2- CG  ASP A   5',
    ' N   GLY A   1- C   HIS A   8',
    ' NE2 HIS A   4-ZN    ZN Z   1',
    ' OD1 ASP A   5- O1  LIG S   1',
  ]);
  const findSerial = (columns: string) =>
    lines.find((line) => /^(?:ATOM|HETATM)/.test(line) && line.slice(12, 26) === columns)?.slice(6, 11);
  for (const link of links) {
    const [one, two] = [findSerial(link.slice(12, 26)), findSerial(link.slice(42, 56))];
    expect(lines.some((line) => line.startsWith(`CONECT${one}`) && line.slice(11).includes(`${two}`))).toBe(
      true,
    );
  }
});

it('the archive, GraphQL and a signed link have the same file, under one tag', async () => {
  const cif = await file('structure.cif');
  const archive = await bench.download(`/batches/${batchId}/results.zip`);
  const files = unzipSync(new Uint8Array(await archive.arrayBuffer()));
  const stored = Object.entries(files).find(([name]) => /^bonded.*\.cif$/.test(name))?.[1];
  expect(Buffer.from(stored ?? []).toString()).toBe(cif);
  const { data } = await bench.ask(
    'query($id: ID!) { task(taskId: $id) { result { structure { text signedUrl } } } }',
    { id: `${batchId}-00000` },
  );
  expect(at(data, 'task.result.structure.text')).toBe(cif);
  const signed = new URL(String(at(data, 'task.result.structure.signedUrl')));
  const linked = await bench.gateway.fetch(new Request(new URL(signed.pathname, 'http://gateway.test')));
  expect(await linked.text()).toBe(cif);
  const again = await bench.download(`/tasks/${batchId}-00000/structure.cif`);
  expect(again.headers.get('etag')).toBe(linked.headers.get('etag'));
  await again.body?.cancel();
});

it('a gateway that did not see the submission writes those that distance shows', async () => {
  const config = readConfig({ STORE_URL: 'memory:', UPSTREAM_TIMEOUT_FACTOR: '5' });
  const other = createGateway({ config, upstreamUrl: bench.sandboxUrl, log: testLogger() });
  const answer = await other.fetch(
    new Request(`http://gateway.test/tasks/${batchId}-00000/structure.cif`, {
      headers: { authorization: `Bearer ${KEY}` },
    }),
  );
  const found = bondsIn(await answer.text()) ?? [];
  await other.close();
  expect(answer.status).toBe(200);
  expect(found.map(([, , , details]) => details)).not.toContain('declared');
  expect(found.length).toBeLessThan(4);
});
