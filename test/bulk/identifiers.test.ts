// startBulkLookup with mixed identifiers: resolved first, and refused as a whole with the place of each that names no protein.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const START = `mutation ($input: BulkLookupInput!) { startBulkLookup(input: $input) { __typename
  ... on BulkLookup { lookupId requestedCount duplicateCount }
  ... on InvalidInput { message issues { path code message } } } }`;

describe.each(DIALECTS)('identifiers of a bulk look-up at a service that speaks %s', (dialect) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, { dialect });
  });
  afterAll(() => world.close());

  const start = async (input: object) => {
    world.forget();
    const { data, errors } = await world.query(START, { input: { structure: false, ...input } });
    expect(errors).toBeUndefined();
    return at(data, 'startBulkLookup');
  };

  it('may be mixed; one protein is sent once', async () => {
    const found = await start({ ids: [INSULIN, 'P01308', 'sp|P69905|HBA_HUMAN', INSULIN.toUpperCase()] });
    expect(found).toMatchObject({ __typename: 'BulkLookup', requestedCount: 4, duplicateCount: 2 });
    const { uniprot, bulk } = world.counts();
    expect([uniprot, bulk]).toEqual([2, 1]);
    const sent = world.calls.find(({ operation }) => operation === 'bulk');
    expect(at(JSON.parse(sent?.body ?? ''), 'protein_hashes')).toEqual([
      INSULIN,
      '6077c452d1dc6151040b2b179e2294c7',
    ]);
  });

  it('stand in the rows as they were given', async () => {
    const found = await start({
      ids: [INSULIN, 'P01308', ' HBA_HUMAN '],
      clusterInfo: false,
      proteinFeatures: false,
    });
    const id = String(at(found, 'lookupId'));
    const rows = async (): Promise<string> => {
      const response = await world.gateway.fetch(new Request(`http://gateway.test/bulk/${id}.tsv`));
      if (response.status === 200) return response.text();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return rows();
    };
    const [head, ...lines] = (await rows()).trimEnd().split('\n');
    expect(head?.split('\t').slice(0, 3)).toEqual(['requested', 'status', 'hash']);
    expect(lines.map((line) => line.split('\t').slice(0, 3))).toEqual([
      [INSULIN, 'FOUND', INSULIN],
      ['P01308', 'FOUND', INSULIN],
      ['HBA_HUMAN', 'FOUND', '6077c452d1dc6151040b2b179e2294c7'],
    ]);
  });

  it('that name no protein are issues with their places, and nothing is started', async () => {
    const found = await start({ ids: [INSULIN, INSULIN.slice(1), 'MGYP000261684433', 'P00000', 'insulin'] });
    expect(at(found, '__typename')).toBe('InvalidInput');
    expect(at(found, 'issues')).toEqual([
      {
        path: 'ids.1',
        code: 'NOT_AN_IDENTIFIER',
        message: '`ids[1]` (31 characters) is not a protein hash. It has 31 characters instead of 32.',
      },
      {
        path: 'ids.2',
        code: 'NOT_AN_IDENTIFIER',
        message: '`ids[2]` (16 characters) is an accession of MGnify.',
      },
      { path: 'ids.3', code: 'NOT_FOUND', message: 'P00000 is not in the sandbox.' },
      {
        path: 'ids.4',
        code: 'NOT_AN_IDENTIFIER',
        message: '`ids[4]` (7 characters) is not an identifier of a protein.',
      },
    ]);
    expect(at(found, 'message')).toMatch(/ And 1 more\.$/);
    expect(world.counts()).toEqual({ uniprot: 1 });
  });

  it('are not given twice, nor left out', async () => {
    expect(await start({ ids: [INSULIN], hashes: [INSULIN] })).toMatchObject({ __typename: 'InvalidInput' });
    expect(await start({})).toMatchObject({ issues: [{ path: 'ids', code: 'TOO_FEW' }] });
    expect(await start({ ids: [] })).toMatchObject({ issues: [{ path: 'ids', code: 'TOO_FEW' }] });
    expect(await start({ hashes: [INSULIN] })).toMatchObject({ requestedCount: 1 });
  });

  it('are too many by their number, not by what it would cost to resolve them', async () => {
    const ids = Array.from({ length: 50_001 }, (_, i) => `P${i}_HUMAN`);
    expect(await start({ ids })).toMatchObject({ issues: [{ path: 'ids', code: 'TOO_MANY' }] });
    expect(world.counts()).toEqual({});
  });
});
