// A protein has one name and one accession, whichever way it is reached, in whatever order.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { type ChangingProxy, openProxy } from '../doctor/proxy.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

describe.each([
  'plain',
  'rich',
] as const)('over a service that speaks the %s dialect, a protein', (dialect) => {
  let world: World;
  let proxy: ChangingProxy;
  let gateway: Gateway;
  let representatives: string[];

  async function ask(query: string): Promise<unknown> {
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }),
    );
    const { data, errors } = (await response.json()) as Answer;
    expect(errors).toBeUndefined();
    return data;
  }

  beforeAll(async () => {
    world = await openWorld({}, { dialect });
    // Records of other databases often have no header, and so no name.
    proxy = await openProxy(world.sandboxUrl);
    proxy.change((answer, { path }) => {
      if (!/\/proteins\/[0-9a-f]{32}\?/.test(path) || answer.status !== 200) return;
      const { header: _, ...record } = JSON.parse(answer.body.toString()) as Record<string, unknown>;
      answer.body = Buffer.from(JSON.stringify(record));
    });
    const config = readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0' });
    gateway = createGateway({ config, upstreamUrl: proxy.url, log: testLogger(), sandbox: true });
    const { data } = await world.query(
      '{ similarProteins(sequence: "GIVEQCCTSICSLYQLENYCN", first: 100) { hits { cluster { representativeHash size } } } }',
    );
    const hits = listAt(data, 'similarProteins.hits');
    const clustered = hits.filter((hit) => Number(at(hit, 'cluster.size')) > 1);
    representatives = [...new Set(clustered.map((hit) => String(at(hit, 'cluster.representativeHash'))))];
    expect(representatives.length).toBeGreaterThan(4);
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
    await world.close();
  });

  const NAMES = 'hash name accession source organism gene uniprotEntry { accession }';

  it('has the same names by its hash, its cluster, a list, an id, an entry and a hit', async () => {
    let unnamed = 0;
    for (const hash of representatives.slice(0, 8)) {
      const id = JSON.stringify(Buffer.from(`Protein:${hash}`).toString('base64'));
      const ways = [
        `cluster(hash: "${hash}") { representative { ${NAMES} } }`,
        `cluster(hash: "${hash}") { size representative { ${NAMES} } }`,
        `protein(hash: "${hash}") { ${NAMES} }`,
        `protein(hash: "${hash}") { cluster { representative { ${NAMES} } } }`,
        `proteins(hashes: ["${hash}", "${representatives.at(-1)}"]) { ${NAMES} }`,
        `lookup(ids: ["${hash}"]) { protein { ${NAMES} } }`,
        `node(id: ${id}) { ... on Protein { ${NAMES} } }`,
      ];
      const said: unknown[] = [];
      const collect = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return;
        if ('accession' in value && 'name' in value) {
          if (at(value, 'hash') === hash) said.push(value);
        } else for (const below of Object.values(value)) collect(below);
      };
      for (const way of ways) collect(await ask(`{ ${way} }`));
      collect(await ask(`{ ${ways.map((way, i) => `w${i}: ${way}`).join(' ')} }`));
      const [first] = said;
      const accession = at(first, 'uniprotEntry.accession');
      if (accession !== undefined)
        for (const way of [`uniprotEntry(id: "${accession}")`, `lookup(ids: ["${accession}"])`])
          collect(await ask(`{ ${way} { protein { ${NAMES} } } }`));
      expect(said.length).toBeGreaterThanOrEqual(2 * ways.length);
      for (const other of said) expect(other).toEqual(first);
      if (at(first, 'name') === null) unnamed += 1;
    }
    expect(unnamed).toBeGreaterThan(0);
  });
});
