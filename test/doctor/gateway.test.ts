// The gateway in front of an upstream that changed overnight: it answers all that it can, says what changed, and answers everything
// again with the mapping that the doctor proposes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt } from '../support.ts';
import { reached } from '../transport.ts';
import { type Change, type ChangingProxy, openProxy, renamedKey } from './proxy.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
let sandbox: Sandbox;
let proxy: ChangingProxy;
let folder: string;
const opened: Gateway[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-mapping-'));
  sandbox = await startSandbox({ size: 'small' });
  proxy = await openProxy(sandbox.url);
});
afterAll(async () => {
  await Promise.all(opened.map((gateway) => gateway.close()));
  await proxy.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

function open(env: Record<string, string> = {}): Gateway {
  const config = readConfig({
    STORE_URL: 'memory:',
    LOG_LEVEL: 'silent',
    CACHE_RECORDS_SECONDS: '0',
    ...env,
  });
  const gateway = reached(createGateway({ config, upstreamUrl: proxy.url, log: testLogger() }));
  opened.push(gateway);
  return gateway;
}

async function ask(gateway: Gateway, query: string): Promise<Answer> {
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }),
  );
  return (await response.json()) as Answer;
}

const changes: readonly Change[] = [
  renamedKey(/\/clusters\//, 'member_protein_hashes', 'members'),
  renamedKey(/\/uniprot\//, 'organism', 'species'),
  renamedKey(/\/proteins\/[0-9a-f]{32}\?/, 'mean_plddt', 'plddt_mean'),
];
const overnight: Change = (answer, question) => {
  for (const change of changes) change(answer, question);
};

const QUERY = `{
  uniprotEntry(id: "P01308") { name organism }
  cluster(hash: "${HASH}") { members(first: 1) { totalCount } }
  protein(hash: "${HASH}") { length features(top: 2) { value regions { start } } }
  feature(index: 7) { label }
}`;
const REPORT = `{ contractReport(refresh: true) { status upstream checks(status: CHANGED) { name path expected seen consequence } } }`;

it('answers all that it can, reports the rest, and is whole again with the proposed mapping', async () => {
  proxy.change(undefined);
  const whole = await ask(open(), QUERY);
  expect(whole.errors).toBeUndefined();

  proxy.change(overnight);
  const gateway = open();
  const before = await ask(gateway, '{ contractReport { status checks { name } } }');
  expect(before.data).toEqual({ contractReport: { status: 'SKIPPED', checks: [] } });

  const part = await ask(gateway, QUERY);
  expect(part.data).toEqual({
    ...(whole.data as object),
    uniprotEntry: { name: at(whole.data, 'uniprotEntry.name'), organism: null },
    cluster: null,
  });
  expect(part.errors).toMatchObject([
    {
      path: ['cluster', 'members'],
      extensions: { code: 'UPSTREAM_DRIFT', upstream: { operation: 'cluster' } },
    },
  ]);

  // Noticed by the way, before anybody examined anything.
  const noticed = await ask(gateway, '{ contractReport { status checks { name path seen } } }');
  expect(at(noticed.data, 'contractReport.status')).toBe('CHANGED');
  expect(listAt(noticed.data, 'contractReport.checks')).toContainEqual({
    name: 'cluster, seen in traffic',
    path: 'member_protein_hashes',
    seen: 'named members',
  });

  const examined = await ask(gateway, REPORT);
  expect(at(examined.data, 'contractReport.upstream')).toBe(proxy.url);
  expect(listAt(examined.data, 'contractReport.checks')).toEqual(
    expect.arrayContaining([
      {
        name: 'uniprot',
        path: 'organism',
        expected: 'string',
        seen: 'named species',
        consequence: 'UniprotEntry.organism is null or incomplete',
      },
      expect.objectContaining({
        name: 'protein',
        path: 'mean_plddt',
        seen: 'named plddt_mean',
      }),
      expect.objectContaining({ name: 'cluster', path: 'member_protein_hashes' }),
    ]),
  );
  const metrics = await gateway.metrics.text();
  expect(metrics).toContain('foldatlas_upstream_contract{operation="cluster",state="changed"} 1');
  expect(metrics).toContain('foldatlas_upstream_contract{operation="similarity",state="ok"} 1');
  expect(metrics).toMatch(
    /foldatlas_upstream_drifts_total\{operation="cluster",path="member_protein_hashes"\} [2-9]/,
  );

  const file = join(folder, 'mapping.yaml');
  writeFileSync(
    file,
    'cluster:\n  member_protein_hashes: members\nuniprot:\n  organism: species\nprotein:\n  mean_plddt: plddt_mean\n',
  );
  const bridged = open({ WIRE_MAPPING_FILE: file });
  expect(await ask(bridged, QUERY)).toEqual(whole);
  const after = await ask(bridged, REPORT);
  expect(at(after.data, 'contractReport.status')).toBe('OK');
});

it('reads a bulk archive in other words, files and keys', async () => {
  const { unzipSync, zipSync } = await import('fflate');
  const query = `{ proteins(hashes: ["${HASH}", "efebacde779fb9ede77f2039ec6cfe09"]) {
    sequence cluster { size } features(top: 2) { value feature { index } } structure { text } } }`;
  proxy.change(undefined);
  const whole = await ask(open(), query);
  expect(whole.errors).toBeUndefined();
  proxy.change((answer, { path, method }) => {
    if (method !== 'POST' || !path.endsWith('/proteins/batch') || answer.status !== 200) return;
    const files = Object.entries(unzipSync(answer.body)).map(([name, bytes]): [string, Uint8Array] => [
      name.replace('structures/', 'pdb/').replace('sequences', 'proteins'),
      name.endsWith('.json')
        ? Buffer.from(
            Buffer.from(bytes)
              .toString()
              .replaceAll('"cluster_size"', '"size"')
              .replaceAll('"top_features"', '"ranking"'),
          )
        : bytes,
    ]);
    answer.body = Buffer.from(zipSync(Object.fromEntries(files)));
  });
  const file = join(folder, 'archive.yaml');
  writeFileSync(
    file,
    'archive: { structures: pdb, sequences.fasta: proteins.fasta }\nclusterInfo: { clusters.*.cluster_size: size }\nbulkFeatures: { "*.top_features": ranking }\n',
  );
  expect(await ask(open({ WIRE_MAPPING_FILE: file }), query)).toEqual(whole);
});

it('finds an Atlas that has moved to a prefix of the configuration', async () => {
  proxy.change((answer, { path }) => {
    if (!path.startsWith('/atlas/')) return;
    Object.assign(answer, { status: 404, type: 'text/html', body: Buffer.from('<html>Not found</html>') });
  });
  proxy.reroute((path) =>
    path.startsWith('/v9/atlas/') ? path.replace('/v9/atlas', '/atlas/protein/api/v1alpha1') : path,
  );
  const examined = await ask(open({ DOCTOR_ATLAS_PREFIXES: '/v9/atlas' }), REPORT);
  proxy.reroute(undefined);
  expect(listAt(examined.data, 'contractReport.checks')).toContainEqual(
    expect.objectContaining({ name: 'prefix, atlas', path: 'UPSTREAM_ATLAS_PREFIX', seen: '/v9/atlas' }),
  );
});

it('does not start with a mapping that maps nothing', () => {
  const file = join(folder, 'wrong.yaml');
  writeFileSync(file, 'protein: { plddt: confidence }');
  expect(() => readConfig({ WIRE_MAPPING_FILE: file })).toThrow(
    'WIRE_MAPPING_FILE: protein: plddt: there is no such place',
  );
  expect(() => readConfig({ WIRE_MAPPING_FILE: join(folder, 'none.yaml') })).toThrow('cannot be read');
});
