// An answer never depends on what was asked before, or on what failed then; a protein has one name
// and one accession.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { type Change, type ChangingProxy, inJson, openProxy } from '../doctor/proxy.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const CLUSTER = /\/clusters\//;

describe.each(DIALECTS)('over a service that speaks the %s dialect', (dialect) => {
  let world: World;
  let proxy: ChangingProxy;
  let gateway: Gateway;
  let representative: string;
  beforeAll(async () => {
    world = await openWorld({}, { dialect });
    proxy = await openProxy(world.sandboxUrl);
    const { data } = await world.query(
      '{ uniprotEntry(id: "P69905") { protein { cluster { representativeHash } } } }',
    );
    representative = String(at(data, 'uniprotEntry.protein.cluster.representativeHash'));
  });
  afterAll(async () => {
    await proxy.close();
    await world.close();
  });
  // A gateway with an empty cache for each test.
  beforeEach(() => {
    proxy.change(undefined);
    const config = readConfig({
      STORE_URL: 'memory:',
      MAX_CONCURRENT_REQUESTS: '0',
      UPSTREAM_TIMEOUT_FACTOR: '5',
    });
    gateway = createGateway({ config, upstreamUrl: proxy.url, log: testLogger(), sandbox: true });
  });
  afterEach(() => gateway.close());

  async function ask(query: string): Promise<Answer> {
    const url = `http://gateway.test/graphql?${new URLSearchParams({ query })}`;
    const response = await gateway.fetch(new Request(url, { headers: { accept: 'application/json' } }));
    return (await response.json()) as Answer;
  }

  const RANKING = `{ protein(hash: "${INSULIN}") { features(first: 3) { value feature { index label } regions { end } } } }`;

  it.each([
    ['chosen indices', 'featureValues(indices: [2379, 3]) { value regions { end } }'],
    ['one chosen index', 'featureValues(indices: [5], normalize: false) { value }'],
    [
      'more chosen indices than the ranking has',
      'featureValues(indices: [5, 6, 7, 8, 9], normalize: false) { value }',
    ],
    ['the raw ranking', 'features(first: 5, normalize: false) { value }'],
    ['the strongest raw feature', 'features(first: 1, normalize: false) { value }'],
  ])('the ranking is the same after %s', async (_, field) => {
    const fresh = await world.query(RANKING);
    const first = await ask(`{ protein(hash: "${INSULIN}") { length ${field} } }`);
    expect(first.errors).toBeUndefined();
    const one = await ask(RANKING.replace('first: 3', 'first: 1'));
    expect(listAt(one.data, 'protein.features')).toEqual(listAt(fresh.data, 'protein.features').slice(0, 1));
    expect(await ask(RANKING)).toEqual(fresh);
    // In one query as well, whichever comes first.
    const both = await ask(`{ a: protein(hash: "${INSULIN}") { ${field} } ${RANKING.slice(1)}`);
    expect(at(both.data, 'protein')).toEqual(at(fresh.data, 'protein'));
  });

  it('activations are no less known because one record failed that shows their scale', async () => {
    const features = (needs: string) => `features(first: 3) { ${needs} residues(start: 2, end: 9) }`;
    const query = `{
      proteins(hashes: ["${representative}", "${INSULIN}"]) { ${features('value')} }
      cluster(hash: "${representative}") { representative { ${features('regions { end }')} } }
    }`;
    const { data: whole } = await world.query(query);
    let failures = 1;
    proxy.change((answer, { path }) => {
      if (!/\/proteins\/[0-9a-f]{32}/.test(path) || failures === 0) return;
      failures -= 1;
      answer.body = Buffer.alloc(0);
    });
    const { data, errors = [] } = await ask(query);
    expect(failures).toBe(0);
    for (const place of ['proteins.0', 'proteins.1', 'cluster.representative'])
      for (const [i, feature] of listAt(whole, `${place}.features`).entries()) {
        const path = `${place}.features.${i}.residues`;
        const failed = errors.some((error) => path.startsWith(String(error.path?.join('.'))));
        expect(failed ? undefined : at(data, path), path).toEqual(
          failed ? undefined : at(feature, 'residues'),
        );
      }
  });

  it.each([
    ['a record', `protein(hash: "${INSULIN}")`, 'features(first: 3) { value }'],
    [
      'a record that was read for its features',
      `protein(hash: "${INSULIN}")`,
      'features(first: 60) { regions { end } }',
    ],
    ['a cluster', 'cluster(hash: "REPRESENTATIVE")', 'representative { features(first: 60) { value } }'],
  ])('the raw form of %s is the same', async (_, root, field) => {
    const place = root.replace('REPRESENTATIVE', representative);
    const fresh = await world.query(`{ ${place} { raw } }`);
    await ask(`{ ${place} { ${field} } }`);
    expect(await ask(`{ ${place} { raw } }`)).toEqual(fresh);
    const together = await ask(`{ ${place} { raw ${field} } }`);
    expect(Object.values(Object(together.data))[0]).toMatchObject({
      raw: at(Object.values(Object(fresh.data))[0], 'raw'),
    });
  });

  it.each([
    'features(first: 1) { regions { end } }',
    'features(first: 2) { value residues(start: 0, end: 9) }',
    'featureValues(indices: [3]) { regions { end } }',
    'name',
    'sequence',
    'plddt { values }',
    'length accession header',
  ])('a part that fails is an error, and is whole when the service is well: %s', async (field) => {
    const query = `{ cluster(hash: "${representative}") { taxonomy { name } representative { hash ${field} } } }`;
    const fresh = await world.query(query);
    proxy.change((answer, { path }) => {
      if (!/\/proteins\//.test(path)) return;
      Object.assign(answer, { status: 503, type: 'application/json', body: Buffer.from('{}') });
    });
    const failed = await ask(query);
    expect(failed.errors?.[0]?.path?.slice(0, 2)).toEqual(['cluster', 'representative']);
    proxy.change(undefined);
    expect(await ask(query)).toEqual(fresh);
  });

  const changed = (paths: RegExp, key: string, value: unknown): Change =>
    inJson(paths, (fields) => {
      if (Object.hasOwn(fields, key)) fields[key] = value;
    });

  it.each([
    ['another name', changed(CLUSTER, 'protein_name', 'Another name')],
    ['an empty name', changed(CLUSTER, 'protein_name', '')],
    ['an empty accession', changed(CLUSTER, 'accession', ' ')],
    ['an empty source', changed(CLUSTER, 'source', '')],
  ])('a representative has its own names where its cluster has %s', async (_, change) => {
    proxy.change(change);
    const names = 'hash name accession source organism';
    const { data, errors } = await ask(
      `{ protein(hash: "${representative}") { ${names} } cluster(hash: "${representative}") { taxonomy { name } representative { ${names} } }
         list: proteins(hashes: ["${representative}"]) { cluster { taxonomy { name } representative { ${names} } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'cluster.representative')).toEqual(at(data, 'protein'));
    expect(at(data, 'list.0.cluster.representative')).toEqual(at(data, 'protein'));
    expect(at(data, 'protein.accession')).toEqual(expect.any(String));
  });

  it('a list of features repeats what is repeated, in order', async () => {
    const { data } = await ask(
      '{ features(indices: [7, 7, 99999, 8, 7], first: 3) { totalCount nodes { index } } }',
    );
    expect(data).toEqual({ features: { totalCount: 4, nodes: [{ index: 7 }, { index: 7 }, { index: 8 }] } });
  });

  it.each(['', ' \t'])('a text that is empty is null, wherever it stands: %j', async (empty) => {
    const texts = new Set(
      'accession protein_accession source header protein_name entry_name gene organism function label description summary activation_pattern category exemplar_protein_families name rank'.split(
        ' ',
      ),
    );
    proxy.change(
      inJson(/\/(?:proteins\/[0-9a-f]{32}|clusters|uniprot|similarity-search|features)/, (fields) => {
        for (const key of Object.keys(fields))
          if (texts.has(key) && typeof fields[key] === 'string') fields[key] = empty;
      }),
    );
    const { data, errors } = await ask(`{
      uniprotEntry(id: "P01308") { accession entryName name gene organism function }
      protein(hash: "${INSULIN}") { name organism gene header features(first: 2) { regions { end } feature { label description } } }
      feature(index: 3) { label description summary activationPattern category exemplarProteinFamilies }
      features(first: 2) { nodes { label description } }
      cluster(hash: "${representative}") { name taxonomy { rank name } pfamDomains { name } }
      similarProteins(sequence: "GIVEQCCTSICSLYQLENYCN", first: 2) { hits { cluster { name } } }
    }`);
    expect(errors).toBeUndefined();
    const blank: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value === 'string' && value.trim() === '') blank.push(path);
      if (typeof value === 'object' && value !== null)
        for (const [key, below] of Object.entries(value)) walk(below, `${path}.${key}`);
    };
    walk(data, 'data');
    expect(blank).toEqual([]);
    expect(data).toMatchObject({
      uniprotEntry: { accession: 'P01308', name: null, gene: null },
      feature: { label: 'Feature 3', description: null, summary: null },
      cluster: { name: null },
    });
  });
});
