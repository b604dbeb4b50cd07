// Drifts with consequences, each injected by a proxy in front of a service that keeps its contract: the doctor notices
// every one, names the place, and proposes only mappings that it has tried.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { runChecks } from '../../src/contract/checks/run-checks.ts';
import { suggestMapping } from '../../src/contract/mapping.ts';
import { isProblem, type Report } from '../../src/contract/report.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { openPublicAgent } from '../../src/upstream/http/download.ts';
import { settingsOf } from '../../src/upstream/settings.ts';
import { CANCEL, FOLD, FREE, JOB, SPENT, STATUS, SUBMIT } from './drift-cases.ts';
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

const report = (
  options: Partial<Parameters<typeof runChecks>[1]> = {},
  url: string = proxy.url,
): Promise<Report> =>
  runChecks(
    {
      settings: settingsOf(readConfig({}), url),
      connections,
      token: 'doctor',
      requestId: 'test',
      signal: undefined,
      onCall: () => undefined,
    },
    { downloads: { publicAgent }, light: true, propose: true, ...options },
  );

const places = ({ checks }: Report): string[] =>
  checks.flatMap(({ findings }) => findings.filter(isProblem).map(({ answer, path }) => `${answer} ${path}`));

describe('a service that has changed', () => {
  it.each(Object.entries(FREE))('is noticed: %s', async (_, { change, found, options }) => {
    proxy.change(change);
    const changed = await report(options);
    expect(places(changed)).toContain(found);
    expect(changed.status).toBe('CHANGED');
  });

  it.each(Object.entries(SPENT))('is noticed, at its costs: %s', async (_, {
    change,
    found,
    options = FOLD,
  }) => {
    proxy.change((answer, question) => {
      // Files are downloaded through the proxy, too.
      if (STATUS.test(question.path) || JOB.test(question.path))
        answer.body = Buffer.from(answer.body.toString().replaceAll(sandbox.url, proxy.url));
      change(answer, question);
    });
    const changed = await report(options);
    expect(places(changed)).toContain(found);
    expect(changed.status).toBe('CHANGED');
  });
});

describe('a known protein that belongs to no cluster', () => {
  it.each([
    ['is no change', 'There is no such cluster.', []],
    ['does not hide that the route is lost', 'Not Found', ['cluster HTTP status']],
  ])('%s', async (_, detail, found) => {
    const unlink = inJson(/\/proteins\/[0-9a-f]{32}\?/, (fields) => {
      fields.cluster_rep_protein_hash = null;
    });
    proxy.change((answer, question) => {
      unlink(answer, question);
      if (!question.path.includes('/clusters/')) return;
      Object.assign(answer, { status: 404, body: Buffer.from(JSON.stringify({ detail })) });
    });
    expect(places(await report())).toEqual(found);
  });
});

describe('a task that is cancelled while it is queued', () => {
  it('shows how many were cancelled, under another name too', async () => {
    const slow = await startSandbox({ size: 'small', speed: 0.01, dialect: 'rich' });
    const between = await openProxy(slow.url);
    between.change(renamedKey(CANCEL, 'cancelled', 'cancelled_count'));
    const changed = await report({ ...FOLD, patience: 0 }, between.url);
    await between.close();
    await slow.close();
    expect(places(changed)).toContain('cancel data.cancelled');
  });
});

describe('a mapping', () => {
  it('is not proposed for an answer without its envelope, which is read as it is', async () => {
    proxy.change((answer, { path }) => {
      if (!/\/batch\/(submit|list|status)$/.test(path) || answer.status !== 200) return;
      const { data } = JSON.parse(answer.body.toString());
      answer.body = Buffer.from(JSON.stringify(data));
    });
    const bare = await report(FOLD);
    expect(suggestMapping(bare)).toEqual({});
    expect(places(bare)).toEqual([]);
  });

  it('is not proposed for an address that leads to no archive', async () => {
    proxy.change(
      inJson(JOB, (fields) => {
        if (!Object.hasOwn(fields, 'download_url')) return;
        delete fields.download_url;
        fields.documentation_url = 'http://127.0.0.1:9/documentation';
      }),
    );
    const changed = await report({ job: true });
    expect(changed.status).toBe('CHANGED');
    expect(suggestMapping(changed)).toEqual({});
  });

  it('is proposed where it bridges, and nothing is submitted again to try it', async () => {
    let submitted = 0;
    const rename = renamedKey(SUBMIT, 'batch_id', 'batch');
    proxy.change((answer, question) => {
      if (SUBMIT.test(question.path)) submitted += 1;
      rename(answer, question);
    });
    const changed = await report(FOLD);
    expect(suggestMapping(changed)).toEqual({ submit: { 'data.batch_id': 'batch' } });
    expect(submitted).toBeLessThanOrEqual(2);
  });
});

describe('a Submit without an answer', () => {
  it.each([
    ['the first', 1],
    ['that of the fold to be cancelled', 2],
  ])('%s, is never sent again, not even to try a mapping', async (_, lost) => {
    let submitted = 0;
    let searched = 0;
    const rename = renamedKey(/\/uniprot\/P/, 'organism', 'organism_name');
    proxy.change((answer, question) => {
      rename(answer, question);
      if (/\/uniprot\/P/.test(question.path)) searched += 1;
      if (!SUBMIT.test(question.path)) return;
      submitted += 1;
      if (submitted === lost)
        Object.assign(answer, {
          status: 502,
          type: 'text/html',
          body: Buffer.from('<html>Bad gateway</html>'),
        });
    });
    const changed = await report(FOLD);
    expect(suggestMapping(changed)).toMatchObject({ uniprot: { organism: 'organism_name' } });
    // The mapping was tried by asking everything else once more.
    expect(searched).toBeGreaterThan(1);
    expect(submitted).toBe(lost);
  });
});

describe('an API that has moved', () => {
  it('behind pages, to a prefix of the configuration', async () => {
    proxy.reroute((path) =>
      path.startsWith('/v9/atlas/') ? path.replace('/v9/atlas', '/atlas/protein/api/v1alpha1') : path,
    );
    proxy.change((answer, { path }) => {
      if (!path.startsWith('/atlas/')) return;
      Object.assign(answer, { status: 404, type: 'text/html', body: Buffer.from('<html>Not found</html>') });
    });
    const moved = await report({ prefixes: { atlas: ['/v9/atlas'], batch: [] } });
    expect(moved.settings).toEqual({ UPSTREAM_ATLAS_PREFIX: '/v9/atlas' });
  });
});
