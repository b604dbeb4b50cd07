// The doctor at an upstream that changed overnight: every kind of change is diagnosed, and nothing of an answer gets out.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { runChecks } from '../../src/contract/checks/run-checks.ts';
import { proposalText, suggestMapping } from '../../src/contract/mapping.ts';
import type { Finding, Report } from '../../src/contract/report.ts';
import { tableOf } from '../../src/contract/report.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { openPublicAgent } from '../../src/upstream/http/download.ts';
import { settingsOf } from '../../src/upstream/settings.ts';
import { type ChangingProxy, inJson, openProxy, renamedKey } from './proxy.ts';

let sandbox: Sandbox;
let proxy: ChangingProxy;
const connections = openServiceConnections();
const publicAgent = openPublicAgent();

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', speed: 10_000 });
  proxy = await openProxy(sandbox.url);
});
afterEach(() => {
  proxy.change(undefined);
  proxy.reroute(undefined);
});
afterAll(async () => {
  await Promise.all([connections.close(), publicAgent.close(), proxy.close()]);
  await sandbox.close();
});

const TOKEN = 'a-token-that-nobody-may-see';

const report = (
  options: Partial<Parameters<typeof runChecks>[1]> = {},
  { url = proxy.url, token }: { url?: string; token?: string } = { token: TOKEN },
): Promise<Report> =>
  runChecks(
    {
      settings: settingsOf(readConfig({}), url),
      connections,
      token: token,
      requestId: 'test',
      signal: undefined,
      onCall: () => undefined,
    },
    { downloads: { publicAgent }, light: true, ...options },
  );

const found = ({ checks }: Report): Finding[] => checks.flatMap(({ findings }) => findings);
const check = ({ checks }: Report, name: string) => checks.find((one) => one.name === name);

describe('an upstream that keeps its contract', () => {
  it('is fine in every check, the job and the fold included', async () => {
    const all = await report(
      {
        light: false,
        job: true,
        submit: { model: 'foldmodel2-2026-05-cutoff-2025' },
      },
      { url: sandbox.url, token: TOKEN },
    );
    expect(all.checks.filter(({ status }) => status !== 'OK')).toEqual([]);
    expect(found(all)).toEqual([]);
    expect(all.status).toBe('OK');
    expect(all.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'features',
        'protein',
        'cluster',
        'bulk',
        'job, archive',
        'submit',
        'result',
        'list, no token',
      ]),
    );
    expect(all.limits).toEqual([
      { name: 'features in the catalogue', expected: '16384', seen: '16384' },
      { name: 'hashes in a bulk call', expected: 'at most 500', seen: '501 refused' },
      { name: 'items of a page of List', expected: 'at most 1000', seen: '1001 refused' },
    ]);
    expect(proposalText(suggestMapping(all), all.settings)).toBe('');
  });

  it('is asked with a token only where one is given', async () => {
    const bare = await report({}, {});
    expect(check(bare, 'list, no token')?.status).toBe('OK');
    expect(check(bare, 'status, unknown task')).toMatchObject({ status: 'SKIPPED', note: 'needs a token' });
    expect(bare.status).toBe('OK');
  });
});

describe('an upstream that changed', () => {
  it('by a renamed field: names both, and what it means', async () => {
    proxy.change(renamedKey(/\/proteins\/[0-9a-f]{32}\?/, 'ptm', 'predicted_tm_score'));
    const changed = await report();
    expect(changed.status).toBe('CHANGED');
    expect(found(changed)).toEqual([
      expect.objectContaining({
        answer: 'protein',
        kind: 'renamed',
        path: 'ptm',
        expected: 'number',
        seen: 'named predicted_tm_score',
        meaning: 'Protein.ptm is read from elsewhere: at one call more, or rounded',
      }),
    ]);
    expect(suggestMapping(changed)).toEqual({ protein: { ptm: 'predicted_tm_score' } });
  });

  it('by a renamed field that the reader insists on, deep inside', async () => {
    proxy.change(renamedKey(/similarity-search/, 'similarity_score', 'cosine'));
    expect(found(await report())).toEqual([
      expect.objectContaining({
        answer: 'similarity',
        kind: 'renamed',
        path: 'similar_proteins[].similarity_score',
        name: 'cosine',
        meaning: 'similarProteins fail with UPSTREAM_DRIFT',
      }),
    ]);
  });

  it('by a field of another kind', async () => {
    proxy.change(
      inJson(/\/clusters\//, (fields) => {
        if ('cluster_size' in fields) fields.cluster_size = String(fields.cluster_size);
      }),
    );
    expect(found(await report())).toEqual([
      expect.objectContaining({
        answer: 'cluster',
        kind: 'retyped',
        path: 'cluster_size',
        expected: 'integer',
        seen: 'string',
      }),
    ]);
  });

  it('by a missing field, optional or not', async () => {
    proxy.change(
      inJson(/\/uniprot\//, (fields) => {
        delete fields.organism;
        delete fields.function;
      }),
    );
    const paths = found(await report()).map(({ kind, path }) => `${kind} ${path}`);
    expect(paths).toEqual(['missing organism', 'missing function']);
  });

  it('by a new field: told, but nothing is wrong', async () => {
    proxy.change(
      inJson(/\/features\/7$/, (fields) => {
        if ('feature_index' in fields) fields.evidence_codes = ['ECO:0000001'];
      }),
    );
    const changed = await report();
    expect(changed.status).toBe('OK');
    expect(found(changed)).toEqual([
      expect.objectContaining({ kind: 'added', path: 'evidence_codes', seen: 'array' }),
    ]);
    expect(tableOf(changed)).toContain('new      feature evidence_codes: array');
  });

  it('by new words for states', async () => {
    proxy.change((answer, { path }) => {
      if (!/batch\/(list|status)$/.test(path)) return;
      answer.body = Buffer.from(answer.body.toString().replaceAll('"done"', '"finished"'));
    });
    const changed = await report({ submit: { model: 'foldmodel2-2026-05-cutoff-2025' } });
    expect(
      found(changed).map(({ answer, kind, path, seen, meaning }) => ({ answer, kind, path, seen, meaning })),
    ).toEqual([
      {
        answer: 'list',
        kind: 'word',
        path: 'data.status',
        seen: 'finished',
        meaning: 'Batch.state is UNKNOWN',
      },
      {
        answer: 'list',
        kind: 'word',
        path: 'data.items[].status',
        seen: 'finished',
        meaning: 'Task.state is UNKNOWN',
      },
      {
        answer: 'status',
        kind: 'word',
        path: 'data.status',
        seen: 'finished',
        meaning: 'Task.state is UNKNOWN',
      },
    ]);
  });

  it('by another prefix: finds it, and examines what is there', async () => {
    proxy.reroute((path) =>
      path.startsWith('/atlas/protein/api/v1alpha2/')
        ? path.replace('v1alpha2', 'v1alpha1')
        : path.replace('/atlas/protein/api/v1alpha1', '/nothing/here').replace('/api/v1/batch', '/nowhere'),
    );
    const moved = await report({}, {});
    expect(moved.settings).toEqual({ UPSTREAM_ATLAS_PREFIX: '/atlas/protein/api/v1alpha2' });
    expect(check(moved, 'protein')?.status).toBe('OK');
    expect(tableOf(moved)).toContain('Set UPSTREAM_ATLAS_PREFIX=/atlas/protein/api/v1alpha2');
    expect(check(moved, 'list, no token')?.status).toBe('CHANGED');
  });

  it('by pages instead of JSON, and by other statuses', async () => {
    proxy.change((answer, { path }) => {
      if (path.includes('/uniprot/P'))
        Object.assign(answer, { type: 'text/html; charset=utf-8', body: Buffer.from('<html>') });
      if (path.includes('/clusters/')) answer.status = 403;
    });
    const changed = await report();
    expect(check(changed, 'uniprot')).toMatchObject({
      status: 'CHANGED',
      findings: [{ kind: 'content', expected: 'application/json', seen: 'text/html' }],
    });
    expect(check(changed, 'cluster')).toMatchObject({
      status: 'CHANGED',
      findings: [{ kind: 'status', expected: '200', seen: '403' }],
    });
  });

  it('inside the bulk archive', async () => {
    const { unzipSync, zipSync, strFromU8, strToU8 } = await import('fflate');
    proxy.change((answer, { path, method }) => {
      if (method !== 'POST' || !path.endsWith('/proteins/batch') || answer.status !== 200) return;
      const { 'sequences.fasta': fasta, 'cluster_info.json': info, ...files } = unzipSync(answer.body);
      const renamed = strFromU8(info ?? new Uint8Array()).replaceAll('"cluster_size"', '"size"');
      answer.body = Buffer.from(
        zipSync({
          ...files,
          'cluster_info.json': strToU8(renamed),
          'protein_sequences.fasta': fasta ?? new Uint8Array(),
        }),
      );
    });
    const changed = await report();
    expect(suggestMapping(changed)).toEqual({
      clusterInfo: { 'clusters.*.cluster_size': 'size' },
      archive: { 'sequences.fasta': 'protein_sequences.fasta' },
    });
  });

  it('by a name that requests must use now', async () => {
    proxy.change((answer, { path, body }) => {
      if (!path.endsWith('/proteins/batch') || body.includes('"hashes"')) return;
      const detail = [{ loc: ['body', 'hashes'], msg: 'Field required', type: 'missing', input: {} }];
      Object.assign(answer, {
        status: 422,
        type: 'application/json',
        body: Buffer.from(JSON.stringify({ detail })),
      });
    });
    expect(suggestMapping(await report())).toEqual({ bulk: { 'request.protein_hashes': 'hashes' } });
  });
});

describe('an upstream that does not answer', () => {
  it('in one operation is told apart from one that changed', async () => {
    proxy.change((answer, { path }) => {
      if (path.includes('similarity')) answer.status = 500;
    });
    const failing = await report();
    expect(check(failing, 'similarity')).toMatchObject({ status: 'UNREACHABLE', note: 'answered HTTP 500' });
    expect(failing.status).toBe('UNREACHABLE');
  });

  it('at all', async () => {
    const unreachable = await report({}, { url: 'http://127.0.0.1:9', token: TOKEN });
    expect(unreachable).toMatchObject({ status: 'UNREACHABLE', limits: [] });
    expect(new Set(unreachable.checks.map(({ status }) => status))).toEqual(
      new Set(['UNREACHABLE', 'SKIPPED']),
    );
  });
});

describe('what is shown', () => {
  it('holds no value of an answer, no token, and no key that is no name', async () => {
    const secret = 'eyJhbGciOiJIUzI1NiJ9.secret';
    proxy.change(
      inJson(/./, (fields) => {
        fields[`https://signed.example/?sig=${secret}`] = 1;
        if ('sequence' in fields) fields.sequence = { hidden: secret };
        if ('status' in fields) fields.status = `word-${secret}`;
      }),
    );
    const changed = await report({ light: false, job: true });
    expect(changed.status).toBe('CHANGED');
    for (const text of [
      JSON.stringify(changed),
      tableOf(changed),
      proposalText(suggestMapping(changed), changed.settings),
    ]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(TOKEN);
      expect(text).not.toMatch(/MALWMRLLPLLALLALWGPDPAAAFVN/);
    }
    expect(JSON.stringify(changed)).toContain('(unprintable key)');
  });
});
