// Structures that lack residues, coordinates or the right length: the same is answered from records
// and archives, whatever was asked before.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at } from '../support.ts';

const md5 = (sequence: string) => createHash('md5').update(sequence).digest('hex');
const NAMES: Readonly<Record<string, string>> = {
  M: 'MET',
  K: 'LYS',
  T: 'THR',
  A: 'ALA',
  Y: 'TYR',
  I: 'ILE',
  Q: 'GLN',
};

/** An alpha carbon for each residue of some numbers, with a confidence of a tenth of its place. */
const atoms = (sequence: string, numbers: readonly number[]) =>
  numbers
    .map((n) => {
      const name = NAMES[sequence[n - 1] ?? ''] ?? 'UNK';
      const place = `${String(n).padStart(5)}  CA  ${name} A${String(n).padStart(4)}    `;
      return `ATOM  ${place}${(3.8 * n).toFixed(3).padStart(8)}${'   0.000   0.000'}  1.00  ${(0.5 + n / 100).toFixed(2)}           C`;
    })
    .join('\n');
const upTo = (n: number, without: readonly number[] = []) =>
  Array.from({ length: n }, (_, i) => i + 1).filter((one) => !without.includes(one));

const UNKNOWN = 'MKTXAYIAKQ';
const BARE = 'MKTAYIAKQX';
const SHORT = 'MKTAYIAKQAA';
const OTHER = 'MKTAYIAKQYY';
const [X, NONE, CUT, SWAPPED] = [UNKNOWN, BARE, SHORT, OTHER].map(md5) as [string, string, string, string];
const PDB: Readonly<Record<string, string>> = {
  [X]: atoms(UNKNOWN, upTo(10, [4])),
  [NONE]: 'HEADER    NOTHING\nTITLE     NO ATOM HERE\nEND',
  [CUT]: atoms(SHORT, upTo(3)),
  [SWAPPED]: atoms('MKTAYIAKQAY', upTo(11)),
};
const SEQUENCES: Readonly<Record<string, string>> = {
  [X]: UNKNOWN,
  [NONE]: BARE,
  [CUT]: SHORT,
  [SWAPPED]: OTHER,
};

let server: Server;
let url: string;
let gateway: Gateway;

/** The fields of a protein's record besides its structure. */
let more: object;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0]?.replace('/atlas/protein/api/v1alpha1', '') ?? '';
    const hash = path.slice('/proteins/'.length);
    request.resume();
    if (path === '/proteins/batch') {
      const members = {
        'sequences.fasta': Object.entries(SEQUENCES)
          .map(([of, sequence]) => `>${of}|A1|mgy\n${sequence}\n`)
          .join(''),
        ...Object.fromEntries(
          Object.entries(PDB).map(([of, pdb]) => [
            `structures/${of}.pdb`,
            `REMARK ptm 0.8\nREMARK mean_plddt 0.55\n${pdb}\n`,
          ]),
        ),
      };
      const texts = Object.entries(members).map(([name, text]) => [name, strToU8(text)]);
      return response.setHeader('content-type', 'application/zip').end(zipSync(Object.fromEntries(texts)));
    }
    const sequence = SEQUENCES[hash];
    response.writeHead(sequence === undefined ? 404 : 200, { 'content-type': 'application/json' });
    if (sequence === undefined) return response.end('{"detail": "Protein not found"}');
    const record = { ptm: 0.8, mean_plddt: 0.55, pdb: PDB[hash], sae_features: [] };
    return response.end(JSON.stringify({ protein_hash: hash, sequence, ...record, ...more }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});
const openGateway = () =>
  createGateway({
    config: readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent' }),
    upstreamUrl: url,
    log: testLogger(),
  });
beforeEach(() => {
  more = {};
  gateway = openGateway();
  return () => gateway.close();
});

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
const single = (hash: string, fields: string) => `{ one: protein(hash: "${hash}") { ${fields} } }`;
const listed = (hash: string, fields: string) =>
  `{ all: proteins(hashes: ["${hash}", "${'0'.repeat(32)}"]) { ${fields} } }`;
const read = (answer: Answer, path: string) =>
  at(answer.data, 'one') === undefined ? at(answer.data, `all.0.${path}`) : at(answer.data, `one.${path}`);
const file = (path: string) => gateway.fetch(new Request(`http://gateway.test/structures/${path}`));

/** Earlier queries, by the part that they make known. */
const BEFORE = [
  'ptm',
  'sequence',
  'plddt { mean }',
  'structure { atomCount }',
  'plddt { values }',
  'accession',
];

describe.each([
  ['a record', single],
  ['an archive', listed],
])('from %s', (_, ask) => {
  it.each([
    {},
    { residues_plddt: [0.511, 0.52, 0.53, 0.9, 0.55, 0.56, 0.57, 0.58, 0.59, 0.6] },
  ])('a residue without coordinates has no confidence, the others keep their numbers: %j', async (said) => {
    more = said;
    const answer = await send(
      ask(
        X,
        'sequence ptm plddt { mean length values(scale: UNIT) } structure(format: MMCIF) { atomCount text }',
      ),
    );
    expect(answer.errors).toBeUndefined();
    expect(read(answer, 'sequence')).toBe(UNKNOWN);
    expect(read(answer, 'ptm')).toBe(0.8);
    expect(read(answer, 'plddt')).toEqual({
      mean: 55,
      length: 10,
      values: [0.51, 0.52, 0.53, null, 0.55, 0.56, 0.57, 0.58, 0.59, 0.6],
    });
    expect(read(answer, 'structure.atomCount')).toBe(9);
    const text = String(read(answer, 'structure.text'));
    expect(text).toContain('1 4 UNK n');
    expect(text).toMatch(/^ATOM 4 C CA \. ALA A 1 5 .* 5 ALA A CA 1$/m);
  });

  it('takes a file without ATOM lines for no structure, and answers all else', async () => {
    const answer = await send(ask(NONE, 'sequence ptm plddt { mean } structure { text atomCount }'));
    expect(answer.errors).toBeUndefined();
    expect(read(answer, 'structure')).toBeNull();
    expect([read(answer, 'sequence'), read(answer, 'ptm'), read(answer, 'plddt.mean')]).toEqual([
      BARE,
      0.8,
      55,
    ]);
  });

  it.each([
    ...BEFORE.map((first) => [CUT, SHORT, /expected 11 .*, seen 3/, first] as const),
    ...BEFORE.map((first) => [SWAPPED, OTHER, /expected Y at residue 10 .*, seen A/, first] as const),
  ])('%s: %s has other residues, which is an error (%s), also when %s was asked before', async (hash, sequence, reason, first) => {
    await send(ask(hash, first));
    for (const way of [single, listed]) {
      const answer = await send(way(hash, 'sequence ptm plddt { values } structure { text }'));
      const place = way === single ? ['one'] : ['all', 0];
      expect([read(answer, 'sequence'), read(answer, 'ptm')]).toEqual([sequence, 0.8]);
      expect(read(answer, 'plddt')).toBeNull();
      expect(read(answer, 'structure')).toBeNull();
      const message = expect.stringMatching(new RegExp(`at \\$\\.pdb \\(residues\\): ${reason.source}`));
      const extensions = expect.objectContaining({ code: 'UPSTREAM_DRIFT' });
      expect(answer.errors).toHaveLength(2);
      expect(answer.errors).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ path: [...place, 'plddt'], message, extensions }),
          expect.objectContaining({ path: [...place, 'structure', 'text'], message, extensions }),
        ]),
      );
    }
  });

  it.each(BEFORE)('addresses are answered alike when %s was asked before', async (first) => {
    const url = await send(ask(NONE, 'structure { url }'));
    await gateway.close();
    gateway = openGateway();
    await send(ask(NONE, first));
    expect(await send(ask(NONE, 'structure { url }'))).toEqual(url);
  });
});

describe('the file of a protein', () => {
  it('is there with an unknown residue, is not without ATOM lines, and is an error with too few residues', async () => {
    const [pdb, cif, none, cut] = await Promise.all(
      [`${X}.pdb`, `${X}.cif`, `${NONE}.pdb`, `${CUT}.cif`].map(file),
    );
    expect([pdb?.status, cif?.status, none?.status, cut?.status]).toEqual([200, 200, 404, 502]);
    expect(await cif?.text()).toContain('1 4 UNK n');
    expect((await pdb?.text())?.match(/^ATOM /gm)).toHaveLength(9);
  });
});
