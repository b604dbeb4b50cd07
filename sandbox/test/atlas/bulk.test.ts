// Bulk lookups as archives and as jobs: what is inside equals the single records, and jobs move by
// the clock alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { strFromU8, unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { JOB_LIMITS } from '../../src/atlas/bulk-jobs.ts';
import { ManualClock, systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/database.ts';
import { allHashes, allProteins, smallUniverse, startAtlas } from './harness.ts';
import * as wire from './wire.ts';

const { msPerProtein } = JOB_LIMITS;
const UNKNOWN = '0123456789abcdef0123456789abcdef';
const bare = { include_structure: false, include_cluster_info: false, include_features: false };
const readBytes = async (answer: Response): Promise<Uint8Array> => new Uint8Array(await answer.arrayBuffer());
const readMembers = async (answer: Response): Promise<Map<string, string>> =>
  new Map(Object.entries(unzipSync(await readBytes(answer))).map(([name, data]) => [name, strFromU8(data)]));
const member = (members: Map<string, string>, name: string): string => {
  const text = members.get(name);
  if (text === undefined) throw new Error(`the archive has no ${name}`);
  return text;
};

test('an archive holds what the single records hold', async () => {
  const atlas = startAtlas();
  const hashes = allHashes.filter((_, n) => n % 17 === 0);
  const answer = await atlas.bulk({ protein_hashes: [...hashes, UNKNOWN, ...hashes], topk_features: 4 });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const members = await readMembers(answer);
  const info = wire.clusterInfo.parse(JSON.parse(member(members, 'cluster_info.json')));
  const features = wire.bulkFeatures.parse(JSON.parse(member(members, 'features.json')));
  expect(Object.keys(features)).toEqual(hashes);
  const fasta: string[] = [];
  const structures: string[] = [];
  for (const hash of hashes) {
    const record = await atlas.read(`/proteins/${hash}?topk_features=4&fold_on_miss=false`, wire.protein);
    fasta.push(`>${hash}|${record.accession}|${record.source}\n${record.sequence}\n`);
    expect(features[hash]).toEqual({
      protein_level: record.protein_activations,
      per_residue: record.per_residue_activations,
      top_features: record.sae_features.map(({ feature_index, value, label }) => ({
        feature_index,
        value,
        label,
      })),
    });
    if (record.pdb !== null) {
      structures.push(`structures/${hash}.pdb`);
      const [ptm, plddt, loud, ...atoms] = member(members, `structures/${hash}.pdb`).split('\n');
      expect([ptm, plddt]).toEqual([`REMARK ptm ${record.ptm}`, `REMARK mean_plddt ${record.mean_plddt}`]);
      const [first, ...others] = record.pdb.split('\n');
      expect([loud, ...atoms]).toEqual([first, ...others.slice(3)]);
    }
    const representative = info.proteins[hash];
    if (smallUniverse.protein(hash)?.cluster === null) expect(representative).toBeUndefined();
    else {
      expect(record.cluster_rep_protein_hash ?? hash).toBe(representative);
      const { member_protein_hashes, cluster_representative_features, ...fields } = await atlas.read(
        `/clusters/${representative}`,
        wire.cluster,
      );
      expect(info.clusters[representative ?? '']).toEqual(fields);
    }
  }
  expect(member(members, 'sequences.fasta')).toBe(fasta.join(''));
  expect([...members.keys()].filter((name) => name.startsWith('structures/'))).toEqual(structures);
  expect([...members.keys()].slice(structures.length)).toEqual([
    'sequences.fasta',
    'cluster_info.json',
    'features.json',
  ]);
});

test('the include flags decide which members there are', async () => {
  const atlas = startAtlas();
  const protein_hashes = allHashes.slice(0, 3);
  const names = async (flags: object): Promise<string[]> => [
    ...(await readMembers(await atlas.bulk({ protein_hashes, ...flags }))).keys(),
  ];
  expect(await names(bare)).toEqual(['sequences.fasta']);
  expect(await names({ ...bare, include_sequence: false })).toEqual([]);
  expect(await names({ ...bare, include_cluster_info: true })).toEqual([
    'sequences.fasta',
    'cluster_info.json',
  ]);
  expect(await names({ ...bare, include_features: { protein_level: false, per_residue: false } })).toEqual([
    'sequences.fasta',
  ]);
  const parts = async (include_features: unknown) => {
    const members = await readMembers(await atlas.bulk({ protein_hashes, ...bare, include_features }));
    return Object.keys(
      wire.bulkFeatures.parse(JSON.parse(member(members, 'features.json')))[protein_hashes[0] ?? ''] ?? {},
    );
  };
  expect(await parts(true)).toEqual(['protein_level', 'per_residue', 'top_features']);
  expect(await parts({})).toEqual(['protein_level', 'per_residue', 'top_features']);
  expect(await parts({ per_residue: false })).toEqual(['protein_level', 'top_features']);
  expect(await parts({ protein_level: false })).toEqual(['per_residue', 'top_features']);
  const own = await readMembers(await atlas.bulk({ protein_hashes: protein_hashes.slice(0, 1) }));
  const [one] = Object.values(wire.bulkFeatures.parse(JSON.parse(member(own, 'features.json'))));
  expect(one?.top_features).toHaveLength(10);
});

test('every member has the size and the checksum that the central directory says, streamed or not', async () => {
  const zip = Buffer.from(
    await readBytes(await startAtlas().bulk({ protein_hashes: allHashes.slice(0, 12) })),
  );
  const end = zip.length - 22;
  expect(zip.readUInt32LE(end)).toBe(0x06054b50);
  const count = zip.readUInt16LE(end + 10);
  const flags: number[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let n = 0; n < count; n++) {
    expect(zip.readUInt32LE(at)).toBe(0x02014b50);
    const [crc, packed, size] = [16, 20, 24].map((offset) => zip.readUInt32LE(at + offset));
    const nameLength = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    expect(zip.readUInt32LE(local)).toBe(0x04034b50);
    const data = local + 30 + nameLength;
    const content = inflateRawSync(zip.subarray(data, data + (packed ?? 0)));
    expect([content.length, crc32(content)]).toEqual([size, crc]);
    const flag = zip.readUInt16LE(at + 8);
    flags.push(flag);
    const told = flag === 8 ? data + (packed ?? 0) + 4 : local + 14;
    expect([0, 4, 8].map((offset) => zip.readUInt32LE(told + offset))).toEqual([crc, packed, size]);
    at += 46 + nameLength;
  }
  expect(at).toBe(end);
  expect(new Set(flags)).toEqual(new Set([0, 8]));
});

test('the same lookup gives the same bytes', async () => {
  const body = { protein_hashes: allHashes.slice(20, 30) };
  const [one, two] = await Promise.all([startAtlas().bulk(body), startAtlas().bulk(body)]);
  expect(Buffer.compare(await readBytes(one), await readBytes(two))).toBe(0);
});

test('answers up to 100 unique hashes at once, makes a job of more, and refuses more than 500', async () => {
  const atlas = startAtlas();
  const padded = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => n.toString(16).padStart(32, '0'));
  expect((await atlas.bulk({ protein_hashes: [...padded(100), ...padded(100)], ...bare })).status).toBe(200);
  expect((await atlas.bulk({ protein_hashes: [], ...bare })).status).toBe(200);
  for (const count of [101, 500]) {
    const answer = await atlas.bulk({ protein_hashes: padded(count), ...bare });
    expect(answer.status).toBe(202);
    const handle = wire.jobHandle.parse(await answer.json());
    expect(handle.poll_url).toBe(`/atlas/protein/api/v1alpha1/proteins/batch/jobs/${handle.job_id}`);
  }
  const refused = await atlas.bulk({ protein_hashes: padded(501), ...bare });
  expect(refused.status).toBe(422);
  expect(wire.validation.parse(await refused.json()).detail[0]).toMatchObject({
    loc: ['body', 'protein_hashes'],
    type: 'too_long',
    ctx: { max_length: 500, actual_length: 501 },
  });
});

async function startJob(atlas: ReturnType<typeof startAtlas>, count: number, flags: object = bare) {
  const handle = wire.jobHandle.parse(
    await (await atlas.bulk({ protein_hashes: allHashes.slice(0, count), ...flags })).json(),
  );
  const poll = async () => {
    const answer = await atlas.request(handle.poll_url);
    return {
      status: answer.status,
      body: answer.status === 410 ? undefined : wire.job.parse(await answer.json()),
    };
  };
  return { ...handle, poll };
}

test('a job counts up by the clock, completes, and its archive can be read in ranges', async () => {
  const atlas = startAtlas();
  const { poll } = await startJob(atlas, 150);
  expect(await poll()).toMatchObject({
    status: 202,
    body: { status: 'pending', completed_count: 0, total_count: 150 },
  });
  atlas.clock.advance(75 * msPerProtein);
  const half = await poll();
  expect(half.body?.completed_count).toBeGreaterThan(0);
  expect(half.body?.completed_count).toBeLessThan(150);
  atlas.clock.advance(75 * msPerProtein);
  const { status, body } = await poll();
  expect([status, body?.status, body?.completed_count]).toEqual([200, 'completed', 150]);

  const url = body?.download_url ?? '';
  const answer = await atlas.request(url);
  const whole = await readBytes(answer);
  expect(answer.headers.get('content-length')).toBe(String(whole.length));
  const fasta = strFromU8(unzipSync(whole)['sequences.fasta'] ?? new Uint8Array());
  expect(fasta.match(/>/g)).toHaveLength(150);

  const range = async (value: string, more = {}) =>
    atlas.request(url, { headers: { range: value, ...more } });
  for (const [value, from, to] of [
    ['bytes=0-9', 0, 10],
    ['bytes=5-5', 5, 6],
    ['bytes=100-', 100, whole.length],
    ['bytes=-22', whole.length - 22, whole.length],
    ['bytes=5-9999999', 5, whole.length],
  ] as const) {
    const part = await range(value);
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to - 1}/${whole.length}`,
    ]);
    expect(Buffer.compare(await readBytes(part), whole.subarray(from, to))).toBe(0);
  }
  for (const value of [`bytes=${whole.length}-`, 'bytes=-0']) {
    const outside = await range(value);
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  }
  const tooMuch = await range(`bytes=-${whole.length + 1}`);
  expect(tooMuch.headers.get('content-range')).toBe(`bytes 0-${whole.length - 1}/${whole.length}`);
  expect((await range('lines=1-2')).status).toBe(200);
  expect((await range('bytes=0-9', { 'if-range': '"another"' })).status).toBe(200);
  const head = await atlas.request(url, { method: 'HEAD' });
  expect([head.status, head.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
});

test('a job of 500 proteins takes a second of the clock, and no less than its steps', async () => {
  const atlas = startAtlas();
  const protein_hashes = Array.from({ length: 500 }, (_, n) => n.toString(16).padStart(32, '0'));
  const { poll_url } = wire.jobHandle.parse(await (await atlas.bulk({ protein_hashes, ...bare })).json());
  const poll = async () => wire.job.parse(await (await atlas.request(poll_url)).json());
  atlas.clock.advance(950);
  expect(await poll()).toMatchObject({ status: 'pending', completed_count: 475 });
  atlas.clock.advance(50);
  expect(await poll()).toMatchObject({ status: 'completed', completed_count: 500 });
});

test('a job is completed only once its archive is there: nothing is made when it is downloaded', async () => {
  let looked = 0;
  const universe = {
    ...smallUniverse,
    protein(hash: string) {
      looked += 1;
      return smallUniverse.protein(hash);
    },
  };
  const atlas = startAtlas({ serverClock: systemClock, universe });
  const { poll } = await startJob(atlas, 110, { include_features: false });
  let view = await poll();
  const seen = new Set<unknown>();
  for (; view.status === 202; view = await poll()) {
    seen.add(view.body?.status);
    expect(view.body?.completed_count).toBeLessThan(110);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([...seen]).toEqual(['pending']);
  expect(view.body).toMatchObject({ status: 'completed', completed_count: 110 });
  looked = 0;
  const names = [...(await readMembers(await atlas.request(view.body?.download_url ?? ''))).keys()];
  expect(names.filter((name) => name.startsWith('structures/')).length).toBeGreaterThan(80);
  expect(looked).toBe(0);
});

test('an archive of several megabytes comes whole and in ranges over its pieces', async () => {
  const atlas = startAtlas();
  const { poll } = await startJob(atlas, 200, { include_structure: false });
  atlas.clock.advance(10_000);
  const url = (await poll()).body?.download_url ?? '';
  const whole = await readBytes(await atlas.request(url));
  expect(whole.length).toBeGreaterThan(3 * 2 ** 20);
  expect(Object.keys(unzipSync(whole))).toEqual(['sequences.fasta', 'cluster_info.json', 'features.json']);
  const part = await readBytes(await atlas.request(url, { headers: { range: 'bytes=1000000-2500000' } }));
  expect(Buffer.compare(part, whole.subarray(1_000_000, 2_500_001))).toBe(0);
});

test('a cancelled job keeps what it had, a finished one everything, and cancelling can be repeated', async () => {
  const atlas = startAtlas();
  const cancel = async (poll_url: string) => (await atlas.request(poll_url, { method: 'DELETE' })).status;

  const early = await startJob(atlas, 120);
  expect(await cancel(early.poll_url)).toBe(204);
  expect(await early.poll()).toEqual({
    status: 200,
    body: { status: 'cancelled', job_id: early.job_id, completed_count: 0, total_count: 120 },
  });

  const midway = await startJob(atlas, 120);
  atlas.clock.advance(55 * msPerProtein);
  expect([await cancel(midway.poll_url), await cancel(midway.poll_url)]).toEqual([204, 204]);
  atlas.clock.advance(60_000);
  const kept = (await midway.poll()).body;
  expect(kept?.status).toBe('cancelled');
  const fasta = member(await readMembers(await atlas.request(kept?.download_url ?? '')), 'sequences.fasta');
  expect(fasta.match(/>/g)).toHaveLength(kept?.completed_count ?? -1);

  // The step in hand is the last one, so the job finishes all the same.
  const late = await startJob(atlas, 120);
  atlas.clock.advance(120 * msPerProtein - 1);
  expect((await late.poll()).status).toBe(202);
  expect(await cancel(late.poll_url)).toBe(204);
  expect((await late.poll()).body).toMatchObject({
    status: 'completed',
    completed_count: 120,
    download_url: expect.any(String),
  });

  expect(await cancel('/atlas/protein/api/v1alpha1/proteins/batch/jobs/nobody')).toBe(404);
});

test('jobs survive a restart, before and after their archive was built', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jobs-'));
  const clock = new ManualClock();
  const restart = () => startAtlas({ database: openDatabase(join(folder, 'state.db')), clock });
  const first = restart();
  const { poll_url } = await startJob(first, 110);
  first.database.close();

  clock.advance(50 * msPerProtein);
  const second = restart();
  const poll = async () => wire.job.parse(await (await second.request(poll_url)).json());
  expect(await poll()).toMatchObject({ status: 'pending', completed_count: 50, total_count: 110 });
  clock.advance(5000);
  const url = (await poll()).download_url ?? '';
  const archive = await readBytes(await second.request(url));
  expect(Object.keys(unzipSync(archive))).toEqual(['sequences.fasta']);
  second.database.close();

  const third = restart();
  expect(Buffer.compare(await readBytes(await third.request(url)), archive)).toBe(0);
  third.database.close();
  rmSync(folder, { recursive: true, force: true });
});

test('URLs and results expire, and a forged URL opens nothing', async () => {
  const atlas = startAtlas();
  const { poll, job_id } = await startJob(atlas, 130);
  expect((await atlas.request(`/downloads/bulk/${job_id}.zip`)).status).toBe(403);
  atlas.clock.advance(5000);
  const url = (await poll()).body?.download_url ?? '';
  expect((await atlas.request(url.replace(job_id, '00000000-0000-4000-8000-000000000000'))).status).toBe(403);
  atlas.clock.advance(3600 * 1000 + 1000);
  expect((await atlas.request(url)).status).toBe(403);
  const fresh = (await poll()).body?.download_url ?? '';
  expect((await atlas.request(fresh)).status).toBe(200);
  atlas.clock.advance(24 * 3600 * 1000 - 1);
  expect((await poll()).status).toBe(410);
  expect(
    (await atlas.request(`/atlas/protein/api/v1alpha1/proteins/batch/jobs/${job_id}`, { method: 'DELETE' }))
      .status,
  ).toBe(204);
  expect((await poll()).status).toBe(410);
  expect(atlas.database.prepare('SELECT count(*) AS n FROM atlas_job_piece').get()).toEqual({ n: 0 });
});

test('two readers of an archive that is not built yet share one build', async () => {
  const atlas = startAtlas();
  const { poll } = await startJob(atlas, 105, { include_structure: false });
  atlas.clock.advance(10_000);
  const url = (await poll()).body?.download_url ?? '';
  const [one, two] = await Promise.all([
    atlas.request(url).then(readBytes),
    atlas.request(url).then(readBytes),
  ]);
  expect(Buffer.compare(one, two)).toBe(0);
  expect(allProteins.length).toBeGreaterThan(105);
});
