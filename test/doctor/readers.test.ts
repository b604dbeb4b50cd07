// The doctor refuses what the gateway refuses: both read with the same functions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { examine } from '../../src/doctor/doctor.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import { openPlace } from '../upstream/liar.ts';
import { type ChangingProxy, inJson, openProxy } from './proxy.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';

let sandbox: Sandbox;
let proxy: ChangingProxy;
const connections = openServiceConnections();
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  proxy = await openProxy(sandbox.url);
});
afterAll(async () => {
  await Promise.all([connections.close(), proxy.close()]);
  await sandbox.close();
});

const set = (path: RegExp, name: string, toLie: (value: unknown) => unknown) =>
  inJson(path, (fields) => {
    if (name in fields) fields[name] = toLie(fields[name]);
  });
const PROTEIN = /\/proteins\/[0-9a-f]{32}(\?|$)/;
const protein = (fields: string) => `{ protein(hash: "${HASH}") { ${fields} } }`;
const members = protein('cluster { members(first: 1) { totalCount } }');
const halved = (value: unknown) =>
  Array.isArray(value) ? value.slice(0, Math.ceil(value.length / 2)) : value;

describe('the doctor', () => {
  it.each([
    ['protein', 'the sequence of another protein', set(PROTEIN, 'sequence', () => 'MKTAYIAK'), null],
    ['protein', 'another length', set(PROTEIN, 'sequence_length', () => 7), null],
    ['cluster', 'half of the members', set(/\/clusters\//, 'member_protein_hashes', halved), members],
    ['cluster', 'another cluster', set(/\/clusters\//, 'protein_hash', () => 'a'.repeat(32)), members],
    ['feature', 'another feature', set(/\/features\/\d+$/, 'feature_index', () => 8), null],
    ['features', 'labels that are all null', set(/\/features$/, 'label', () => null), null],
  ])('reports of %s: %s', async (name, _, change, query) => {
    proxy.change(change);
    const settings = toUpstreamSettings(readConfig({}), proxy.url);
    const up = { settings, connections, token: undefined, requestId: 'test', signal: undefined };
    const { checks } = await examine(up, { sandbox: false });
    expect(checks.find((check) => check.name === name)?.status, JSON.stringify(checks)).not.toBe('OK');
    if (query === null) return;
    const place = openPlace(proxy.url);
    expect((await place.query(query)).errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_DRIFT' });
    await place.gateway.close();
  });
});
