// lookup: hashes, accessions and entry names mixed; each answered in its place, resolved few at a
// time, once.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import { fault, unknownHash } from '../subscriptions/support.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const QUERY = `query($ids: [String!]!) { lookup(ids: $ids) {
  requested protein { hash length } problem { __typename message hint ... on InvalidInput { issues { path code } } }
} }`;
const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';

let world: World;
let starts: number[] = [];
let bulks = 0;
beforeAll(async () => {
  world = await openWorld(
    {},
    {
      control: true,
      onRequest: ({ operation }) => {
        if (operation === 'uniprot') starts.push(Date.now());
        if (operation === 'bulk') bulks += 1;
      },
    },
  );
});
afterAll(() => world.close());
beforeEach(() => {
  starts = [];
});
afterEach(async () => {
  await fetch(`${world.sandboxUrl}/control/faults`, { method: 'DELETE' });
});

const lookup = async (ids: readonly string[]) => {
  const { data, errors } = await world.query(QUERY, { ids });
  return { found: listAt(data, 'lookup'), errors };
};
const problem = (typename: string) =>
  expect.objectContaining({ __typename: typename, hint: expect.any(String) });

describe('lookup', () => {
  it('keeps order and duplicates and gives each its own problem, with one call for each new accession', async () => {
    const gap = unknownHash(7);
    const ids = [
      'P69905',
      INSULIN,
      'no such thing!',
      gap,
      'INS_HUMAN',
      ` ${HBA.toUpperCase()} `,
      'Q99999',
      'p69905',
      INSULIN,
    ];
    const { found, errors } = await lookup(ids);
    expect(errors).toBeUndefined();
    expect(found.map((one) => at(one, 'requested'))).toEqual(ids);
    const hba = { hash: HBA, length: 142 };
    const insulin = { hash: INSULIN, length: 110 };
    expect(found.map((one) => at(one, 'protein'))).toEqual([
      hba,
      insulin,
      null,
      null,
      insulin,
      hba,
      null,
      hba,
      insulin,
    ]);
    expect(found.map((one) => at(one, 'problem'))).toEqual([
      null,
      null,
      {
        ...Object(at(found[2], 'problem')),
        __typename: 'InvalidInput',
        issues: [{ path: 'ids.2', code: 'NOT_AN_IDENTIFIER' }],
      },
      problem('NotFound'),
      null,
      null,
      problem('NotFound'),
      null,
      null,
    ]);
    // A protein that the sandbox lacks may well exist.
    expect(at(found[6], 'problem.message')).toBe('Q99999 is not in the sandbox.');
    expect(at(found[3], 'problem.message')).toBe('The sandbox does not have this protein.');
    // P69905, INS_HUMAN and the unknown Q99999.
    expect(starts).toHaveLength(3);
    starts = [];
    await lookup(['p69905', 'INS_HUMAN']);
    expect(starts).toHaveLength(0);
  });

  it('resolves accessions in parallel, at most eight at a time', async () => {
    const fresh = REFERENCE_PROTEINS.map(({ accession }) => accession)
      .filter((id) => id !== 'P69905')
      .slice(0, 24);
    expect(fresh).toHaveLength(24);
    await fault(world.sandboxUrl, { operation: 'uniprot', delay_ms: 300, times: 24 });
    const { found, errors } = await lookup(fresh);
    expect(errors).toBeUndefined();
    expect(found.every((one) => at(one, 'protein') !== null)).toBe(true);
    expect(starts).toHaveLength(24);
    for (const start of starts) {
      expect(starts.filter((other) => other >= start && other < start + 250).length).toBeLessThanOrEqual(8);
    }
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThan(24 * 300 * 0.5);
  });

  it('makes the failure to resolve one of them its own error, and answers the others', async () => {
    await fault(world.sandboxUrl, { operation: 'uniprot', status: 503, times: 3 });
    const { found, errors } = await lookup([INSULIN, 'HBB_HUMAN', HBA]);
    expect(found.map((one) => at(one, 'protein.hash'))).toEqual([INSULIN, undefined, HBA]);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatchObject({
      path: ['lookup', 1, 'protein'],
      extensions: { code: 'UPSTREAM_UNAVAILABLE', upstream: { operation: 'uniprot', status: 503 } },
    });
    expect(at(found[1], 'problem')).toBeNull();
  });

  it('makes it an error at the problem where no protein is selected', async () => {
    await fault(world.sandboxUrl, { operation: 'uniprot', status: 503, times: 3 });
    const { data, errors } = await world.query(
      '{ lookup(ids: ["HBB_HUMAN"]) { status problem { message } } }',
    );
    expect(at(data, 'lookup.0')).toEqual({ status: 'UNAVAILABLE', problem: null });
    expect(errors?.map(({ path }) => path)).toEqual([['lookup', 0, 'problem']]);
  });

  it('tells identifiers of other databases in the words of the service', async () => {
    await fault(world.sandboxUrl, {
      operation: 'uniprot',
      status: 400,
      body: { detail: 'ENSP00000369497 is not a UniProtKB accession' },
    });
    const { found, errors } = await lookup(['ENSP00000369497', INSULIN]);
    expect(errors).toBeUndefined();
    expect(at(found[0], 'problem')).toMatchObject({
      __typename: 'InvalidInput',
      message: 'ENSP00000369497 is not a UniProtKB accession',
    });
    expect(at(found[1], 'protein.hash')).toBe(INSULIN);
  });

  it('answers mixed identifiers of every kind with one bulk call', async () => {
    bulks = 0;
    const hashes = Array.from({ length: 70 }, (_, i) => unknownHash(1000 + i));
    const ids = REFERENCE_PROTEINS.flatMap(({ accession, md5 }, i) => [accession, hashes[i] ?? '', md5]);
    const { found, errors } = await lookup(ids);
    expect(errors).toBeUndefined();
    expect(found.map((one) => at(one, 'protein.hash'))).toEqual(
      REFERENCE_PROTEINS.flatMap(({ md5 }) => [md5, undefined, md5]),
    );
    expect(bulks).toBe(1);
  });

  it('refuses more than fits in one query', async () => {
    const { errors } = await world.query(QUERY, { ids: Array.from({ length: 5001 }, () => INSULIN) });
    expect(errors?.[0]?.extensions.code).toMatch(/BAD_USER_INPUT|QUERY_TOO_EXPENSIVE/);
  });
});
