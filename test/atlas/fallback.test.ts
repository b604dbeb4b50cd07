// An upstream whose archives lack what the service may leave out, are scaled otherwise, or come
// damaged: what is missing is asked of the single record, what cannot be had is an error at its
// place, what was whole is answered.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt } from '../support.ts';
import { reached } from '../transport.ts';

const md5 = (sequence: string) => createHash('md5').update(sequence).digest('hex');
const A = md5('MKVA');
const B = md5('MENTS');
const C = 'a3f8ce0b95a063d65d4bf0361992c7f5';

const FASTA = `>${A}|P1|uniprotkb\nMKVA\n>${B}|P2|mgy\nMENTS\n`;
const feature = (value: number) => ({ feature_index: 3, value, label: 'three' });
const features = (scale: number) => ({
  protein_level: { shape: [16384], indices: [[3, 9]], values: [1.5 * scale, 0.5 * scale] },
  top_features: [feature(1.5), { feature_index: 9, value: 0.5, label: 'nine' }],
});
const catalogue = { data: [3, 9, 12].map((index) => ({ feature_index: index, label: `f${index}` })) };

let archive: Uint8Array;
let calls: string[];
/** The fields in which single records differ. */
let record: object;
/** Answers of other operations, by path. */
let others: Readonly<Record<string, object>>;
/** Whether single records fail. */
let failing: boolean;
let server: Server;
let gateway: Gateway;

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://upstream.test');
    const name = url.pathname.replace('/atlas/protein/api/v1alpha1', '');
    const json = (body: unknown) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    };
    calls.push(`${request.method} ${name}`);
    request.resume();
    if (name === '/proteins/batch') {
      response.setHeader('content-type', 'application/zip').end(archive);
    } else if (name === '/features') json(catalogue);
    else if (others[name] !== undefined) json(others[name]);
    else if (name.startsWith('/proteins/') && failing) {
      response.writeHead(422, { 'content-type': 'application/json' }).end('{"detail": "not now"}');
    } else if (name.startsWith('/proteins/')) {
      const indices = url.searchParams.getAll('feature_indices').map(Number);
      const chosen = indices
        .filter((index) => index < 16_384)
        .map((index) => ({ ...feature(index === 3 ? 1.5 : 0), feature_index: index }));
      json({
        protein_hash: name.slice(10),
        sequence: name.endsWith(A) ? 'MKVA' : 'MENTS',
        cluster_rep_protein_hash: C,
        sae_features: indices.length === 0 ? [feature(1.5)] : chosen,
        ...record,
      });
    } else {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"detail": "There is none of this hash."}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  gateway = reached(
    createGateway({
      config: readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent', CACHE_RECORDS_SECONDS: '0' }),
      upstreamUrl: `http://127.0.0.1:${address.port}`,
      log: testLogger(),
    }),
  );
});
afterAll(async () => {
  await gateway.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  calls = [];
  record = {};
  others = {};
  failing = false;
});

const ask = (fields: string): Promise<Answer> => send(`{ proteins(hashes: ["${A}", "${B}"]) { ${fields} } }`);
const askOne = (fields: string): Promise<Answer> => send(`{ protein(hash: "${A}") { ${fields} } }`);

async function send(query: string): Promise<Answer> {
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }),
  );
  return (await response.json()) as Answer;
}

const zip = (members: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])));

describe('archives without optional members', () => {
  it('have what they lack filled in from single records, once', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    const { data, errors } = await ask(
      'sequence a: features(first: 1) { value } b: features(first: 1) { value } cluster { representativeHash }',
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins').map((protein) => at(protein, 'cluster.representativeHash'))).toEqual([
      C,
      C,
    ]);
    expect(at(data, 'proteins.0.a')).toEqual([{ value: 1.5 }]);
    expect(calls.sort()).toEqual([`GET /proteins/${B}`, `GET /proteins/${A}`, 'POST /proteins/batch'].sort());
  });

  it('prove nothing by a list of sequences against a record', async () => {
    archive = zip({ 'sequences.fasta': '' });
    const { data, errors } = await ask('features(first: 1) { value regions { start } } plddt { mean }');
    expect(errors).toBeUndefined();
    const protein = { features: [{ value: 1.5, regions: null }], plddt: null };
    expect(at(data, 'proteins')).toEqual([protein, protein]);
    expect(calls.filter((call) => call === 'POST /proteins/batch')).toHaveLength(1);
  });

  it('say of proteins that they do not exist only when they are whole', async () => {
    archive = zip({ 'sequences.fasta': FASTA.slice(0, FASTA.indexOf(`>${B}`)) });
    const { data, errors } = await ask('sequence');
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins')).toEqual([{ sequence: 'MKVA' }, null]);
    archive = zip({ 'sequences.fasta': FASTA.replaceAll('\n', '\r') });
    const ended = await ask('sequence');
    expect(at(ended.data, 'proteins')).toEqual([{ sequence: 'MKVA' }, { sequence: 'MENTS' }]);
  });
});

it('an entry in place of an isoform is not taken for it', async () => {
  const entry = { sequence: 'MKVA', protein_hash: A };
  others = {
    '/uniprot/P05067-2': { ...entry, accession: 'P05067' },
    '/uniprot/P05067-3': { ...entry, accession: 'P05067-3' },
  };
  archive = zip({ 'sequences.fasta': FASTA });
  const { data } = await send(
    '{ lookup(ids: ["P05067-2", "P05067-3"]) { status problem { message } protein { hash } } }',
  );
  expect(at(data, 'lookup')).toEqual([
    {
      status: 'NO_SUCH_ENTRY',
      problem: { message: 'The service does not know the isoform P05067-2.' },
      protein: null,
    },
    { status: 'FOUND', problem: null, protein: { hash: A } },
  ]);
});

describe('clusters of archives that do not name members', () => {
  const clusters = (...own: string[]) =>
    JSON.stringify({ clusters: Object.fromEntries(own.map((hash) => [hash, { cluster_size: 7 }])) });
  const CLUSTER = 'hash cluster { representativeHash size }';

  it('are joined with the representatives that single records name', async () => {
    archive = zip({ 'sequences.fasta': FASTA, 'cluster_info.json': clusters(A, C) });
    const { data, errors } = await ask(CLUSTER);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins')).toEqual([
      { hash: A, cluster: { representativeHash: A, size: 7 } },
      { hash: B, cluster: { representativeHash: C, size: 7 } },
    ]);
    expect(calls.sort()).toEqual([`GET /proteins/${B}`, 'POST /proteins/batch']);
  });

  it('are none only for a protein whose record names none and which has no cluster of its own', async () => {
    archive = zip({ 'sequences.fasta': FASTA, 'cluster_info.json': clusters(A) });
    record = { cluster_rep_protein_hash: null };
    for (const fields of [CLUSTER, 'hash cluster { representativeHash }']) {
      const { data, errors } = await ask(fields);
      expect(errors).toBeUndefined();
      expect(at(data, 'proteins.1')).toEqual({ hash: B, cluster: null });
      expect(calls.splice(0).sort()).toEqual([
        `GET /clusters/${B}`,
        `GET /proteins/${B}`,
        'POST /proteins/batch',
      ]);
    }
  });

  it('are there for a representative that they leave out', async () => {
    archive = zip({ 'sequences.fasta': FASTA, 'cluster_info.json': clusters(A) });
    record = { cluster_rep_protein_hash: null };
    others = { [`/clusters/${B}`]: { protein_hash: B, cluster_size: 2, member_protein_hashes: [B, A] } };
    const { data, errors } = await ask(`${CLUSTER} isClusterRepresentative`);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins')).toEqual([
      { hash: A, cluster: { representativeHash: A, size: 7 }, isClusterRepresentative: true },
      { hash: B, cluster: { representativeHash: B, size: 2 }, isClusterRepresentative: true },
    ]);
  });
});

describe('a fault of the service', () => {
  it.each([
    ['an archive without sequences', () => zip({ 'cluster_info.json': '{"clusters": {}}' })],
    ['a damaged archive', () => zip({ 'sequences.fasta': FASTA }).subarray(0, 40)],
  ])('is an error where %s leaves open whether proteins exist', async (_, made) => {
    archive = made();
    failing = true;
    const { data, errors } = await ask('hash');
    expect(at(data, 'proteins')).toEqual([null, null]);
    expect(errors).toHaveLength(2);
  });

  it('is an error where single records have to say what an archive leaves out', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    failing = true;
    const { data, errors } = await ask('hash ptm');
    expect(errors?.map(({ path }) => path)).toEqual([
      ['proteins', 0, 'ptm'],
      ['proteins', 1, 'ptm'],
    ]);
    // The archive proves that they exist.
    expect(at(data, 'proteins')).toEqual([
      { hash: A, ptm: null },
      { hash: B, ptm: null },
    ]);
  });
});

const PDB = ['MET', 'LYS', 'VAL', 'ALA']
  .map(
    (name, i) =>
      `ATOM      ${i + 1}  CA  ${name} A   ${i + 1}      11.639   6.071  -5.147  1.00  0.91           C  `,
  )
  .join('\n');

describe('a structure without its scores', () => {
  const SCORES = 'ptm plddt { mean values } structure { atomCount }';
  const PLDDT = { mean: 91, values: [91, 91, 91, 91] };
  const STRUCTURE = { ptm: 0.8, plddt: PLDDT, structure: { atomCount: 4 } };
  beforeEach(() => {
    archive = zip({ 'sequences.fasta': FASTA, [`structures/${A}.pdb`]: `${PDB}\n` });
    record = { pdb: PDB, ptm: 0.8 };
  });

  it('has the pTM of its record where an archive has it, and no record is read for the rest', async () => {
    expect(at((await ask(SCORES)).data, 'proteins.0')).toEqual(STRUCTURE);
    calls = [];
    const rest = await ask('plddt { mean } structure { atomCount }');
    expect(at(rest.data, 'proteins.0')).toEqual({ plddt: { mean: 91 }, structure: { atomCount: 4 } });
    expect(calls).not.toContain(`GET /proteins/${A}`);
  });

  it.each([
    'ptm 7.5',
    'ptm -0.1',
    'mean_plddt 250',
  ])('has the scores of its record where those of an archive are on another scale: %s', async (remark) => {
    archive = zip({ 'sequences.fasta': FASTA, [`structures/${A}.pdb`]: `REMARK ${remark}\n${PDB}\n` });
    expect(at((await ask(SCORES)).data, 'proteins.0')).toEqual(STRUCTURE);
  });

  it('has a percentage without what binary fractions add', async () => {
    record = { pdb: PDB, mean_plddt: 0.57 };
    expect(at((await askOne('plddt { mean }')).data, 'protein')).toEqual({ plddt: { mean: 57 } });
  });

  it('has no pTM where neither the archive nor the record states one', async () => {
    record = { pdb: PDB };
    for (const answer of [
      await askOne(SCORES),
      await send(`{ lookup(ids: ["${A}"]) { protein { ${SCORES} } } }`),
    ]) {
      expect(answer.errors).toBeUndefined();
      const protein = at(answer.data, 'protein') ?? at(answer.data, 'lookup.0.protein');
      expect(protein).toEqual({ ...STRUCTURE, ptm: null });
    }
  });

  it('has the scores of its B-factors and its record where a hit of a search has it', async () => {
    const hit = { protein_hash: A, similarity_score: 0.9, pdb: PDB };
    others = { '/similarity-search': { restricted_count: 0, similar_proteins: [hit] } };
    const { data, errors } = await send(
      `{ similarProteins(sequence: "MENTS") { hits { protein { ${SCORES} } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'similarProteins.hits.0.protein')).toEqual(STRUCTURE);
  });
});

describe('a record that lost a field', () => {
  it('does not hide what the archive has', async () => {
    archive = zip({ 'sequences.fasta': FASTA, [`structures/${A}.pdb`]: `REMARK ptm 0.5\n${PDB}\n` });
    record = { sequence: undefined, pdb: undefined };
    const response = await askOne('sequence ptm plddt { mean }');
    expect(response.errors).toBeUndefined();
    expect(at(response.data, 'protein')).toEqual({ sequence: 'MKVA', ptm: 0.5, plddt: { mean: 91 } });
  });

  it('does not hide it where the archive was asked for the cluster only', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      [`structures/${A}.pdb`]: `REMARK ptm 0.5\n${PDB}\n`,
      'cluster_info.json': JSON.stringify({ clusters: { [C]: { cluster_size: 7 } }, proteins: { [A]: C } }),
    });
    const response = await askOne('ptm cluster { size } features(first: 1) { regions { start } }');
    expect(response.errors).toBeUndefined();
    expect(at(response.data, 'protein')).toEqual({
      ptm: 0.5,
      cluster: { size: 7 },
      features: [{ regions: null }],
    });
    expect(calls.sort()).toEqual([`GET /proteins/${A}`, 'POST /proteins/batch', 'POST /proteins/batch']);
  });

  it('has its scores and confidences where it has no coordinates', async () => {
    record = { pdb: null, ptm: 0.5, mean_plddt: 0.75, residues_plddt: [0.5, 0.5, 1, 1] };
    const { data, errors } = await askOne('ptm plddt { mean values } structure { text }');
    expect(errors).toBeUndefined();
    const plddt = { mean: 75, values: [50, 50, 100, 100] };
    expect(at(data, 'protein')).toEqual({ ptm: 0.5, plddt, structure: null });
  });

  it('has no structure only when neither it nor the archive does', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    const response = await askOne('sequence ptm');
    expect(response.errors).toBeUndefined();
    expect(at(response.data, 'protein')).toEqual({ sequence: 'MKVA', ptm: null });
    expect(calls).toEqual([`GET /proteins/${A}`, 'POST /proteins/batch']);
  });

  it.each<[string, object, RegExp]>([
    ['a sequence of another protein', { sequence: 'MKV' }, /\$\.sequence: expected a sequence whose MD5 is/],
    ['another hash', { protein_hash: B }, /\$\.protein_hash: expected/],
    ['another length', { sequence_length: 5 }, /\$\.sequence_length: expected 4 .*, seen 5/],
    ['a pTM of 7', { ptm: 7 }, /\$\.ptm: expected a number from 0 to 1, seen 7/],
  ])('is drift that says where, also with %s', async (_, changed, message) => {
    record = changed;
    archive = zip({});
    const { data, errors } = await askOne('sequence ptm structure { text } features(first: 1) { value }');
    expect(errors?.[0]?.message).toMatch(message);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
    expect(data === null || at(data, 'protein') === null).toBe(true);
  });

  it('has an error at its features alone where these are no list', async () => {
    record = { pdb: PDB, ptm: 0.5, sae_features: 'none' };
    const { data, errors } = await askOne('sequence ptm features(first: 1) { value }');
    expect(errors).toMatchObject([{ path: ['protein', 'features'], extensions: { code: 'UPSTREAM_DRIFT' } }]);
    expect(at(data, 'protein')).toEqual({ sequence: 'MKVA', ptm: 0.5, features: null });
  });

  it.each<[string, object, RegExp]>([
    ['a pLDDT of 700', { residues_plddt: [0.1, 700, 0.2, 0.3] }, /\$\.residues_plddt: expected .* seen 700/],
    ['too few confidences', { residues_plddt: [0.1] }, /\$\.residues_plddt\.length: expected 4/],
  ])('has no confidences with %s, and all else is answered', async (_, changed, message) => {
    record = { pdb: PDB, ptm: 0.5, ...changed };
    const { data, errors } = await askOne('sequence ptm plddt { values }');
    expect(errors).toMatchObject([
      {
        path: ['protein', 'plddt'],
        message: expect.stringMatching(message),
        extensions: { code: 'UPSTREAM_DRIFT' },
      },
    ]);
    expect(at(data, 'protein')).toEqual({ sequence: 'MKVA', ptm: 0.5, plddt: null });
  });

  it('is read alike with confidences on 0 to 100 and on 0 to 1', async () => {
    record = {
      pdb: PDB.replaceAll('  0.91', ' 91.00'),
      ptm: 0.5,
      mean_plddt: 91,
      residues_plddt: [91, 91, 90, 92],
    };
    const { data, errors } = await askOne(
      'plddt { mean values(scale: UNIT) } structure(plddtScale: PERCENT) { text }',
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'protein.plddt')).toEqual({ mean: 91, values: [0.91, 0.91, 0.9, 0.92] });
    expect(at(data, 'protein.structure.text')).toContain('1.00 91.00');
  });
});

describe('activations of all features', () => {
  const INDICES = 'features: featureValues(indices: [9, 3, 12, 70]) { value }';
  it('stand for chosen ones where they repeat the ranking', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(1) }),
    });
    const { data, errors } = await ask(INDICES);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.1.features')).toEqual([{ value: 0.5 }, { value: 1.5 }, { value: 0 }, null]);
    expect(calls.sort()).toEqual(['GET /features', 'POST /proteins/batch']);
  });

  it('are not trusted on another scale: single records are asked', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(20) }),
    });
    const { data, errors } = await ask(INDICES);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.0.features.1')).toEqual({ value: 1.5 });
    expect(at(data, 'proteins.1.features.1')).toEqual({ value: 1.5 });
    expect(calls.filter((call) => call === `GET /proteins/${B}`)).toHaveLength(1);
    expect(calls).not.toContain(`GET /proteins/${A}`);
  });

  it('are not trusted on another scale in a record, either', async () => {
    record = { protein_activations: features(20).protein_level };
    const { data, errors } = await askOne('features: featureValues(indices: [3]) { value }');
    expect(errors).toBeUndefined();
    expect(at(data, 'protein.features')).toEqual([{ value: 1.5 }]);
  });

  it('are no ranking where one is stronger than those of the record', async () => {
    const own = { protein_level: { indices: [[3, 9]], values: [1.5, 4] } };
    archive = zip({ 'sequences.fasta': FASTA, 'features.json': JSON.stringify({ [A]: own, [B]: own }) });
    const { data, errors } = await ask('features(first: 1) { value }');
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.1.features')).toEqual([{ value: 1.5 }]);
  });
});

describe('activations along the sequence', () => {
  const RESIDUES = 'features(first: 1) { value residues }';
  const along = (scale: number, perResidue?: object) => {
    const { protein_level } = features(scale);
    const own = { protein_level, per_residue: perResidue };
    return zip({ 'sequences.fasta': FASTA, 'features.json': JSON.stringify({ [A]: own, [B]: own }) });
  };
  const MATRIX = {
    shape: [4, 16384],
    indices: [
      [0, 2],
      [3, 3],
    ],
    values: [1.5, 1],
  };

  it('are read from the archive where a record leaves them out', async () => {
    archive = along(1, MATRIX);
    const { data, errors } = await askOne(RESIDUES);
    expect(errors).toBeUndefined();
    expect(at(data, 'protein.features')).toEqual([{ value: 1.5, residues: [1.5, 0, 1, 0] }]);
    expect(calls).toEqual([`GET /proteins/${A}`, 'POST /proteins/batch']);
    expect(at((await ask(RESIDUES)).data, 'proteins.0.features')).toEqual(at(data, 'protein.features'));
    const regions = await askOne('features(first: 1) { regions { start } residues }');
    expect(at(regions.data, 'protein.features')).toEqual([{ regions: null, residues: [1.5, 0, 1, 0] }]);
  });

  it('are read from the archive for features by index, too, and never for raw values', async () => {
    archive = along(1, MATRIX);
    const answer = [{ value: 1.5, residues: [1.5, 0, 1, 0] }];
    const { data, errors } = await askOne(`level: featureValues(indices: [3]) { value residues }
      own: featureValues(indices: [3]) { value residues regions { start } }
      raw: featureValues(indices: [3], normalize: false) { value residues }`);
    expect(errors).toBeUndefined();
    expect(at(data, 'protein')).toEqual({
      level: answer,
      own: [{ ...answer[0], regions: null }],
      raw: [{ value: 1.5, residues: null }],
    });
    expect(calls.filter((call) => call === 'POST /proteins/batch')).toHaveLength(1);
  });

  it.each([
    ['neither it nor the archive has them', along(1)],
    ['the archive has them on another scale', along(20, MATRIX)],
  ])('are null where %s', async (_, made) => {
    archive = made;
    const one = await askOne(RESIDUES);
    expect(one.errors).toBeUndefined();
    expect(at(one.data, 'protein.features')).toEqual([{ value: 1.5, residues: null }]);
    const list = await ask(RESIDUES);
    expect(list.errors).toBeUndefined();
    expect(at(list.data, 'proteins.0.features')).toEqual([{ value: 1.5, residues: null }]);
  });
});

describe('rows of an export', () => {
  const exportRows = async (columns: string): Promise<unknown[]> => {
    const request = new Request(`http://gateway.test/export.ndjson?columns=${columns}`, {
      method: 'POST',
      body: `${A}\n${B}\n`,
    });
    const rows = await (await gateway.fetch(request)).text();
    return rows
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  };
  const level = (scale: number) => ({ protein_level: features(scale).protein_level });
  const three = { index: 3, value: 1.5 };
  const records = () => calls.filter((call) => call.startsWith('GET /proteins/'));

  it('have the features of single records where the archive has activations on another scale', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: level(20), [B]: level(20) }),
    });
    expect(await exportRows('features')).toMatchObject([{ features: [three] }, { features: [three] }]);
    expect(records()).toEqual([`GET /proteins/${A}`, `GET /proteins/${B}`]);
  });

  it('cost no calls for proteins of the archive that were not asked for', async () => {
    archive = zip({ 'sequences.fasta': `${FASTA}>${md5('MKVG')}|P3|mgy\nMKVG\n` });
    expect(await exportRows('features')).toMatchObject([{ features: [three] }, { features: [three] }]);
    expect(records()).toHaveLength(2);
  });

  it('never have the sequence of another protein', async () => {
    archive = zip({ 'sequences.fasta': FASTA.replace('MKVA', 'MKVG') });
    expect(await exportRows('sequence')).toMatchObject([
      { status: 'FOUND', sequence: 'MKVA' },
      { status: 'FOUND', sequence: 'MENTS' },
    ]);
  });

  const CLUSTERS = 'cluster_representative,cluster_name,cluster_size,cluster_percent_characterized';
  const cluster = {
    cluster_representative: A,
    cluster_name: 'N',
    cluster_size: 2,
    cluster_percent_characterized: null,
  };

  it('have clusters of their own records where the archive does not tell of clusters', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    others = {
      [`/clusters/${A}`]: {
        protein_hash: A,
        protein_name: 'N',
        cluster_size: 2,
        member_protein_hashes: [A, B],
      },
      [`/proteins/${A}`]: { protein_hash: A, sequence: 'MKVA' },
      [`/proteins/${B}`]: { protein_hash: B, sequence: 'MENTS', cluster_rep_protein_hash: A },
    };
    expect(await exportRows(CLUSTERS)).toMatchObject([cluster, cluster]);
    expect(calls.filter((call) => call.includes('/clusters/'))).toEqual([`GET /clusters/${A}`]);
  });

  it('lose nothing but what the record of a protein that cannot be read would say', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    others = { [`/proteins/${A}`]: { protein_hash: A, sequence: 'MKVA', sae_features: 'none' } };
    expect(await exportRows('sequence,features')).toMatchObject([
      { status: 'UNAVAILABLE', problem: expect.stringMatching(/^UPSTREAM_DRIFT: /) },
      { status: 'FOUND', sequence: 'MENTS', features: [three] },
    ]);
  });
});

describe('a damaged archive', () => {
  /** The archive with a changed byte in the data of a member. */
  const damage = (whole: Uint8Array, name: string): Uint8Array => {
    const bytes = Buffer.from(whole);
    const at = bytes.indexOf(name) + name.length + 5;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
    return bytes;
  };

  it('gives what is whole, and asks single records for what was lost', async () => {
    const members = {
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(1) }),
    };
    archive = damage(zip(members), 'features.json');
    const { data, errors } = await ask('sequence features(first: 1) { value }');
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins').map((protein) => at(protein, 'sequence'))).toEqual(['MKVA', 'MENTS']);
    expect(at(data, 'proteins.1.features')).toEqual([{ value: 1.5 }]);
  });

  it('does not show that there is no structure', async () => {
    const name = `structures/${A}.pdb`;
    archive = damage(zip({ 'sequences.fasta': FASTA, [name]: PDB }), name);
    const { data, errors } = await ask('sequence plddt { mean }');
    expect(at(data, 'proteins')).toEqual([
      { sequence: 'MKVA', plddt: null },
      { sequence: 'MENTS', plddt: null },
    ]);
    expect(errors).toHaveLength(2);
  });

  it('shows no absence where it holds nothing whole: single records answer', async () => {
    archive = zip({ 'sequences.fasta': FASTA }).subarray(0, 40);
    const { data, errors } = await ask('sequence');
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins')).toEqual([{ sequence: 'MKVA' }, { sequence: 'MENTS' }]);
    failing = true;
    expect((await ask('sequence')).errors).toHaveLength(2);
  });
});

describe('a sequence with a stop codon, white space and small letters', () => {
  it('is that of its residues, from records and entries as from archives', async () => {
    archive = zip({ 'sequences.fasta': FASTA.replace('MKVA', 'mkva*') });
    record = { sequence: 'mk va*\n', header: null };
    others = { '/uniprot/P01308': { accession: 'P01308', sequence: 'mk va*\n' } };
    const protein = { sequence: 'MKVA', length: 4 };
    const one = await send(`{
      protein(hash: "${A}") { sequence length header }
      uniprotEntry(id: "P01308") { sequence length proteinHash }
    }`);
    expect(one.errors).toBeUndefined();
    expect(one.data).toEqual({
      protein: { ...protein, header: null },
      uniprotEntry: { ...protein, proteinHash: A },
    });
    expect(at((await ask('sequence length')).data, 'proteins.0')).toEqual(protein);
  });
});

describe('a search that is answered with the hash of another protein', () => {
  it('is one with the protein of its own sequence', async () => {
    others = { '/similarity-search': { protein_hash: B, restricted_count: 0, similar_proteins: [] } };
    const { data, errors } = await send(
      '{ similarProteins(sequence: "MKVA") { queryHash queryProtein { sequence } } }',
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'similarProteins')).toEqual({ queryHash: A, queryProtein: { sequence: 'MKVA' } });
  });
});

describe('hashes in upper case', () => {
  const [a, b] = [A.toUpperCase(), B.toUpperCase()];

  it('are those of the same proteins, wherever they come from', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    record = { cluster_rep_protein_hash: a };
    others = {
      '/similarity-search': {
        protein_hash: a,
        restricted_count: 0,
        similar_proteins: [{ protein_hash: b, similarity_score: 0.9 }],
      },
      [`/clusters/${A}`]: { protein_hash: a, cluster_size: 2, member_protein_hashes: [a, b] },
      '/uniprot/P01308': { accession: 'P01308', sequence: 'MKVA', protein_hash: a },
    };
    const { data, errors } = await send(`{
      similarProteins(sequence: "MKVA") { queryHash queryProtein { sequence } hits { protein { hash sequence } } }
      cluster(hash: "${A}") { memberHashes members { nodes { hash sequence } } }
      lookup(ids: ["P01308", "${b}"]) { status protein { hash sequence } }
      uniprotEntry(id: "P01308") { proteinHash protein { sequence } }
    }`);
    expect(errors).toBeUndefined();
    const [first, second] = [
      { hash: A, sequence: 'MKVA' },
      { hash: B, sequence: 'MENTS' },
    ];
    expect(data).toEqual({
      similarProteins: { queryHash: A, queryProtein: { sequence: 'MKVA' }, hits: [{ protein: second }] },
      cluster: { memberHashes: [A, B], members: { nodes: [first, second] } },
      lookup: [
        { status: 'FOUND', protein: first },
        { status: 'FOUND', protein: second },
      ],
      uniprotEntry: { proteinHash: A, protein: { sequence: 'MKVA' } },
    });
  });
});
