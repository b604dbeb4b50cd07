// Both dialects of the sandbox over HTTP: `rich` follows every convention of the table, `plain`
// none.

import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOB_LIMITS } from '../../src/atlas/bulk-jobs.ts';
import { CONVENTIONS, type ConventionName, listConventions } from '../../src/wire/conventions.ts';
import { type Answer, batch, fold, HOUR, isJson, type Json, startHeld } from '../batch/harness.ts';

const ACTIN = 'efebacde779fb9ede77f2039ec6cfe09';
const ATLAS = '/atlas/protein/api/v1alpha1';

type Held = Awaited<ReturnType<typeof startHeld>>;

/**
 * A batch of a chain that folds and one that is too long to, both ended, and what was read of it.
 */
async function readBatch({ call, clock, url }: Held) {
  const unknown = { sequences: [{ type: 'ligand', ccd: ['QQQQ'] }] };
  const submitted = await call('submit', batch([fold(), { ...fold(), all_atom_input: unknown }]));
  const id = String(submitted.data.batch_id);
  clock.advance(HOUR);
  const list = await call('list', { batch_id: id, include_responses: true });
  const status = await call('status', { task_id: `${id}-00000` });
  const failed = await call('status', { task_id: `${id}-00001` });
  const counts = await call('list', { batch_id: id });
  const queued = await call('submit', batch([fold(), fold()]));
  const cancelled = await call('cancel', { batch_id: queued.data.batch_id });
  const refused = await call('list', { batch_id: id }, { authorization: 'Bearer sandbox-revoked' });
  const result = await fetch(String(status.data.response), { headers: { range: 'bytes=0-9' } });
  return { list, status, failed, counts, cancelled, refused, range: result.status, url };
}

async function readBulk({ url }: Held): Promise<{ clusterInfo: Json; features: Json }> {
  const response = await fetch(`${url}${ATLAS}/proteins/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ protein_hashes: [ACTIN], include_structure: false }),
  });
  const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
  const read = (name: string): Json => {
    const value: unknown = JSON.parse(Buffer.from(files[name] ?? []).toString());
    if (!isJson(value)) throw new Error(`${name} is no object`);
    return value;
  };
  return { clusterInfo: read('cluster_info.json'), features: read('features.json') };
}

/**
 * Whether the last region of the protein's first feature ends behind the last residue that is
 * active.
 */
async function isEndExcluded({ url }: Held): Promise<boolean> {
  const response = await fetch(`${url}${ATLAS}/proteins/${ACTIN}?topk_features=1`);
  const record = (await response.json()) as {
    sae_features: { feature_index: number; residue_regions: { start: number; end: number }[] }[];
    per_residue_activations: { indices: [number[], number[]] };
  };
  const [residues, features] = record.per_residue_activations.indices;
  const top = record.sae_features[0];
  const active = residues.filter((_, n) => features[n] === top?.feature_index);
  const end = top?.residue_regions.at(-1)?.end;
  expect([active.at(-1), Number(active.at(-1)) + 1]).toContain(end);
  return end !== active.at(-1);
}

async function isPartOfCancelledJobKept({ url, clock }: Held): Promise<boolean> {
  const unknown = Array.from({ length: 150 }, (_, n) => n.toString(16).padStart(32, '0'));
  const body = JSON.stringify({ protein_hashes: [ACTIN, ...unknown] });
  const asked = await fetch(`${url}${ATLAS}/proteins/batch`, { method: 'POST', body });
  expect(asked.status).toBe(202);
  const job = (await asked.json()) as { poll_url: string };
  clock.advance(60 * JOB_LIMITS.msPerProtein);
  await fetch(`${url}${job.poll_url}`, { method: 'DELETE' });
  clock.advance(HOUR);
  const view = (await (await fetch(`${url}${job.poll_url}`)).json()) as Json;
  expect(view.status).toBe('cancelled');
  return 'download_url' in view;
}

interface Seen {
  readonly batch: Awaited<ReturnType<typeof readBatch>>;
  readonly bulk: Awaited<ReturnType<typeof readBulk>>;
  readonly endExcluded: boolean;
  readonly cancelledJobArchive: boolean;
  readonly thumbnail: Response;
}

const readFirst = (value: unknown): Json => {
  const first: unknown = isJson(value) ? Object.values(value)[0] : undefined;
  if (!isJson(first)) throw new Error('no first member');
  return first;
};
const itemWithError = ({ data }: Answer): Json | undefined =>
  Array.isArray(data.items) ? data.items.filter(isJson).find(({ error }) => error !== undefined) : undefined;

/** Whether each convention is seen to be followed. */
const followed: Record<ConventionName, (seen: Seen) => boolean> = {
  clusterLinks: ({ bulk }) => 'proteins' in bulk.clusterInfo,
  clusterDetails: ({ bulk }) => 'top_phyla' in readFirst(bulk.clusterInfo.clusters),
  bulkTopFeatures: ({ bulk }) => 'top_features' in readFirst(bulk.features),
  regionEndExcluded: ({ endExcluded }) => endExcluded,
  thumbnailEtag: ({ thumbnail }) => thumbnail.headers.has('etag'),
  cancelledJobArchive: ({ cancelledJobArchive }) => cancelledJobArchive,
  listBatchId: ({ batch }) => 'batch_id' in batch.list.data,
  listCreatedAt: ({ batch }) => 'created_at' in batch.list.data,
  listEmptyPage: ({ batch }) => 'items' in batch.counts.data && 'cursor' in batch.counts.data,
  taskErrorObject: ({ batch }) => isJson(batch.failed.data.error) && isJson(itemWithError(batch.list)?.error),
  statusArtifacts: ({ batch }) =>
    'artifacts' in batch.status.data && 'artifacts_expire_in' in batch.status.data,
  cancelAnswer: ({ batch }) => batch.cancelled.data.cancelled === 2,
  unauthorizedError: ({ batch }) => 'error' in batch.refused.body && !('message' in batch.refused.body),
  resultRange: ({ batch }) => batch.range === 206,
};

describe.each(['plain', 'rich'] as const)('the dialect %s', (dialect) => {
  let held: Held;
  let seen: Seen;
  beforeAll(async () => {
    held = await startHeld({ dialect });
    seen = {
      batch: await readBatch(held),
      bulk: await readBulk(held),
      endExcluded: await isEndExcluded(held),
      cancelledJobArchive: await isPartOfCancelledJobKept(held),
      thumbnail: await fetch(`${held.url}${ATLAS}/proteins/${ACTIN}/thumbnail/plddt`),
    };
  });
  afterAll(() => held.sandbox.close());

  it.each(Object.keys(CONVENTIONS))('%s', (name) => {
    const conventions: ReadonlySet<string> = listConventions(dialect);
    const follows = Object.entries(followed).find(([key]) => key === name)?.[1];
    expect(follows?.(seen)).toBe(conventions.has(name));
  });

  it('keeps what the spec says: states, counts, a page with its cursor, a signed URL', () => {
    expect(seen.batch.list.data).toMatchObject({
      status: 'done',
      counts: { done: 1, failed: 1 },
      cursor: null,
      items: [{ status: 'done', response_available: true }, { status: 'failed' }],
    });
    expect(seen.batch.status.data).toMatchObject({ status: 'done', response: expect.any(String) });
    expect(seen.batch.cancelled.status).toBe(200);
    expect(readFirst(seen.bulk.clusterInfo.clusters)).toMatchObject({ cluster_size: expect.any(Number) });
    expect(readFirst(seen.bulk.features)).toMatchObject({ protein_level: {}, per_residue: {} });
  });
});
