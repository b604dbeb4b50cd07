// The names of proteins: their own, never those of the representative of their cluster.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { readHeader } from '../../src/upstream/proteins/header.ts';
import { type ChangingProxy, openProxy } from '../doctor/proxy.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const HBA = '6077c452d1dc6151040b2b179e2294c7';
const NAMES = 'hash source accession name organism gene header uniprotEntry { name organism gene }';

describe.each(DIALECTS)('names of a service that speaks %s', (dialect) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, { dialect });
  });
  afterAll(() => world.close());

  it('are those of each member of a cluster, one record each beside the bulk calls', async () => {
    const { data: cluster } = await world.query(
      `{ protein(hash: "${HBA}") { cluster { name members(first: 40) { nodes { hash accession } } } } }`,
    );
    const hashes = listAt(cluster, 'protein.cluster.members.nodes').map((node) => at(node, 'hash'));
    expect(hashes.length).toBeGreaterThan(3);
    world.forget();
    const { data, errors } = await world.query(
      'query ($h: [ProteinHash!]!) { proteins(hashes: $h) { hash name organism gene header } }',
      { h: hashes },
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ protein: hashes.length });
    const proteins = listAt(data, 'proteins');
    const human = proteins.find((protein) => at(protein, 'hash') === HBA);
    expect(human).toMatchObject({
      name: 'Hemoglobin subunit alpha',
      organism: 'Homo sapiens',
      gene: 'HBA1',
      header: expect.stringMatching(/^sp\|P69905\|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens /),
    });
    for (const protein of proteins) {
      expect(String(at(protein, 'header'))).toContain(String(at(protein, 'name')));
      expect(String(at(protein, 'header'))).toContain(String(at(protein, 'organism') ?? ''));
    }
    expect(new Set(proteins.map((protein) => at(protein, 'organism'))).size).toBeGreaterThan(2);
  });

  it('cost no record where a UniProt entry led to the protein', async () => {
    world.forget();
    const { data, errors } = await world.query(
      `{ lookup(ids: ["P69905", "INS_HUMAN"]) { protein { length name organism gene uniprotEntry { entryName } } }
        uniprotEntry(id: "P69905") { protein { name organism } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      lookup: [
        {
          protein: {
            length: 142,
            name: 'Hemoglobin subunit alpha',
            organism: 'Homo sapiens',
            gene: 'HBA1',
            uniprotEntry: { entryName: 'HBA_HUMAN' },
          },
        },
        {
          protein: {
            length: 110,
            name: 'Insulin',
            organism: 'Homo sapiens',
            gene: 'INS',
            uniprotEntry: { entryName: 'INS_HUMAN' },
          },
        },
      ],
      uniprotEntry: { protein: { name: 'Hemoglobin subunit alpha', organism: 'Homo sapiens' } },
    });
    expect(world.counts()).toEqual({ uniprot: 2, bulk: 1 });
  });

  it('are asked for where they are selected only', async () => {
    world.forget();
    await world.query(`{ proteins(hashes: ["${HBA}"]) { hash length accession } }`);
    expect(world.counts()).toEqual({ bulk: 1 });
    world.forget();
    const { data } = await world.query(`{ protein(hash: "${HBA}") { ${NAMES} } }`);
    expect(at(data, 'protein.uniprotEntry')).toEqual({
      name: 'Hemoglobin subunit alpha',
      organism: 'Homo sapiens',
      gene: 'HBA1',
    });
    // The entry is cached from before.
    expect(world.counts()).toEqual({ protein: 1 });
  });
});

describe('names of a service without headers', () => {
  let world: World;
  let proxy: ChangingProxy;
  let gateway: Gateway;
  beforeAll(async () => {
    world = await openWorld();
    proxy = await openProxy(world.sandboxUrl);
    proxy.change((answer, { path }) => {
      if (!/\/proteins\/[0-9a-f]{32}\?/.test(path) || answer.status !== 200) return;
      const { header: _, ...record } = JSON.parse(answer.body.toString()) as Record<string, unknown>;
      answer.body = Buffer.from(JSON.stringify(record));
    });
    const config = readConfig({ STORE_URL: 'memory:', CACHE_RECORDS_SECONDS: '0' });
    gateway = createGateway({ config, upstreamUrl: proxy.url, log: testLogger(), sandbox: true });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
    await world.close();
  });

  it('are those of the UniProt entry of the accession, and null for other databases', async () => {
    const { data: found } = await world.query(
      `{ protein(hash: "${HBA}") { cluster { members(first: 60) { nodes { ${NAMES} } } } } }`,
    );
    const members = listAt(found, 'protein.cluster.members.nodes');
    const isKnown = (one: unknown) => at(one, 'source') === 'uniprotkb';
    expect(new Set(members.map(isKnown)).size).toBe(2);
    world.forget();
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: `query ($h: [ProteinHash!]!) { proteins(hashes: $h) { ${NAMES} } }`,
          variables: { h: members.map((one) => at(one, 'hash')) },
        }),
      }),
    );
    const { data, errors } = (await response.json()) as Answer;
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins')).toEqual(
      members.map((one) => {
        const known = isKnown(one);
        const names = known ? {} : { name: null, organism: null, gene: null, uniprotEntry: null };
        return { ...Object(one), header: null, ...names };
      }),
    );
    const { protein, uniprot } = world.counts();
    expect(protein).toBe(members.length);
    expect(uniprot).toBe(members.filter(isKnown).length);
  });
});

describe('a header', () => {
  it.each([
    [
      'sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens OX=9606 GN=HBA1 PE=1 SV=2',
      'Hemoglobin subunit alpha',
      'Homo sapiens',
      'HBA1',
    ],
    [
      'UniRef90_A0A5 Serpin (Fragment) n=2 Tax=Mus musculus TaxID=10090 RepID=A0A5',
      'Serpin (Fragment)',
      'Mus musculus',
      undefined,
    ],
    ['NP_000198.1 insulin preproprotein [Homo sapiens]', 'insulin preproprotein', 'Homo sapiens', undefined],
    ['NP_1 [NiFe] hydrogenase', '[NiFe] hydrogenase', undefined, undefined],
    ['UPI0000000001 status=active', undefined, undefined, undefined],
    ['MGYP000000000001', undefined, undefined, undefined],
    ['', undefined, undefined, undefined],
  ])('says the names: %s', (header, name, organism, gene) => {
    expect(readHeader(header)).toMatchObject({ name, organism, gene });
  });
});
