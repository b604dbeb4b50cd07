// /openapi.json: it is valid, it describes every route, and every route answers as it says, in each
// status that it names.
import { readFileSync } from 'node:fs';
import { fromJsonSchema, type JsonSchemaType } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein, tiny } from '../folding/bench.ts';
import { at, listAt, openWorld } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const DAY_MS = 24 * 3_600_000;
/** Conditions and ranges of the file that the service sends are its own to answer. */
const BY_SERVICE = ['206', '304', '416'].map((status) => `${status} of /tasks/{taskId}/result.json`);
/** Routes for people, and those that have a protocol of their own. */
const UNDESCRIBED = ['/', '/graphql', '/mcp', '/assets/{}', '/examples/'];

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;

let bench: Bench;
let document: unknown;
let paths: Record<string, Record<string, { readonly responses: Responses; readonly security?: unknown }>>;
beforeAll(async () => {
  bench = await openBench();
  document = await (await bench.download('/openapi.json')).json();
  paths = at(document, 'paths') as typeof paths;
});
afterAll(() => bench.close());

/** The paths that an expression matches, with {} for what is free. */
function toTemplates({ source }: RegExp): string[] {
  const text = source.replace(/^\^/, '').replace(/\$$/, '').replaceAll('\\/', '/').replaceAll('\\.', '.');
  const optional = /^\(\?:(.*?\)?)\)\?(?=\/)/.exec(text);
  const variants =
    optional === null
      ? [text]
      : ['', optional[1] ?? ''].map((start) => start + text.slice(optional[0].length));
  const expand = (variant: string): string[] => {
    const group = /\(([^()]*)\)(\?)?/.exec(variant);
    if (group === null) return [variant];
    const [whole, body = '', isOptional] = group;
    const words = /^[\w.|]+$/.test(body) ? body.split('|') : ['{}'];
    const all = isOptional === undefined ? words : ['', ...words];
    return all.flatMap((word) => expand(variant.replace(whole, () => word)));
  };
  return variants.flatMap(expand);
}

describe('the description', () => {
  it('is valid OpenAPI 3.1', async () => {
    const schema: JsonSchemaType = JSON.parse(
      readFileSync(new URL('openapi-3.1-schema.json', import.meta.url), 'utf8'),
    );
    const { validate } = fromJsonSchema(schema)['~standard'];
    expect(await validate(document)).toEqual({ value: document });
    expect(
      await validate({ ...Object(document), paths: { '/a': { get: { responses: { 200: {} } } } } }),
    ).toHaveProperty('issues');
  });

  it('has every route of the gateway, and no other', () => {
    const routed = bench.gateway.routes.flatMap(({ path }) => toTemplates(path));
    expect(routed).toContain('/signed/{}/tasks/{}/structure.cif');
    const described = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    // Endings of structures are checked when they are asked for.
    const known = described.map((path) => path.replace(/(structures\/\{\})\.(pdb|cif)$/, '$1.{}'));
    expect([...new Set(known)].sort()).toEqual(
      [...new Set(routed)].filter((path) => !UNDESCRIBED.includes(path)).sort(),
    );
  });

  it('leaves out what a gateway does not serve, and has its public address', async () => {
    const place = await openWorld({ METRICS_PORT: '9', PUBLIC_URL: 'https://atlas.test/api' });
    const told: unknown = await (
      await place.gateway.fetch(new Request('http://gateway.test/openapi.json'))
    ).json();
    expect(told).not.toHaveProperty(['paths', '/metrics']);
    expect(told).toHaveProperty(['paths', '/health']);
    expect(at(told, 'servers.0.url')).toBe('https://atlas.test/api');
    await place.close();
  });
});

describe('every route', () => {
  it('answers as it is described, in every status', async () => {
    const seen = new Map<string, Set<string>>();

    /** Sends a request for a described path, and compares the answer. */
    async function ask(
      template: string,
      path: string,
      status: number,
      init: RequestInit = {},
      isAnonymous = false,
    ): Promise<Response> {
      const headers = new Headers(init.headers);
      if (!isAnonymous) headers.set('authorization', 'Bearer key-of-a-test');
      const response = await bench.gateway.fetch(
        new Request(new URL(path, 'http://gateway.test'), { ...init, headers }),
      );
      expect(
        [path, response.status],
        await response
          .clone()
          .text()
          .then((text) => text.slice(0, 200)),
      ).toEqual([path, status]);
      const method = (init.method ?? 'GET').toLowerCase();
      const described = paths[template]?.[method]?.responses[String(status)];
      expect(described, `${status} of ${template}`).toBeDefined();
      const type = response.headers.get('content-type')?.split(';')[0];
      if (described?.content !== undefined) expect(Object.keys(described.content), path).toEqual([type]);
      seen.set(template, (seen.get(template) ?? new Set()).add(String(status)));
      return response;
    }

    const ifNoneMatch = (response: Response) => ({ 'if-none-match': response.headers.get('etag') ?? '' });
    for (const file of ['health', 'ready', 'metrics', 'llms.txt', 'openapi.json'])
      await ask(`/${file}`, `/${file}`, 200);
    const schema = await ask('/schema.graphql', '/schema.graphql', 200);
    await ask('/schema.graphql', '/schema.graphql', 304, { headers: ifNoneMatch(schema) });

    const files = ['/structures/{hash}.pdb', '/structures/{hash}.cif', '/thumbnails/{hash}/{type}.png'];
    for (const template of files) {
      const path = (hash: string) => template.replace('{hash}', hash).replace('{type}', 'plddt');
      const found = await ask(template, path(INSULIN), 200, {}, true);
      await ask(template, path(INSULIN), 304, { headers: ifNoneMatch(found) });
      await ask(template, path('insulin'), 400);
      await ask(template, path('a'.repeat(32)), 404);
    }
    for (const ending of ['pdb', 'cif']) {
      const format = ending === 'pdb' ? 'PDB' : 'MMCIF';
      const query = `{ protein(hash: "${INSULIN}") { structure(format: ${format}) { signedUrl } } }`;
      const url = String(at((await bench.query(query)).data, 'protein.structure.signedUrl'));
      const template = `/signed/{signature}/structures/{hash}.${ending}`;
      await ask(template, url, 200, {}, true);
      await ask(template, url.replace(/signed\/[^/]+/, 'signed/forged'), 403, {}, true);
    }

    const items = [
      protein(INSULIN_A, 'a'),
      { ...protein(INSULIN_B, 'b'), includeEmbeddings: true, includePae: true },
    ];
    const early = await bench.submit({ items: tiny(1) });
    await ask('/batches/{batchId}/results.zip', `/batches/${early}/results.zip`, 409);
    const { data: queued } = await bench.ask(`{ batch(batchId: "${early}") { tasks { nodes { taskId } } } }`);
    const waiting = String(at(listAt(queued, 'batch.tasks.nodes'), '0.taskId'));
    const taskFiles = Object.keys(paths).filter((path) => path.startsWith('/tasks/'));
    for (const template of taskFiles) await ask(template, template.replace('{taskId}', waiting), 409);
    const batch = await bench.submit({ items });
    await bench.pass(3_600_000);
    const { data } = await bench.ask(`{ batch(batchId: "${batch}") { tasks { nodes { taskId } } } }`);
    const task = String(at(listAt(data, 'batch.tasks.nodes'), '1.taskId'));
    for (const template of taskFiles) {
      const path = template.replace('{taskId}', task);
      const found = await ask(template, path, 200);
      if (!template.endsWith('result.json')) {
        await ask(template, path, 304, { headers: ifNoneMatch(found) });
        const isStreamed = /\/(?:confidences|pae)\.json$/.test(template);
        await ask(template, path, isStreamed ? 200 : 206, { headers: { range: 'bytes=0-3' } });
        await ask(template, path, isStreamed ? 200 : 416, { headers: { range: 'bytes=900000000-' } });
      }
      if (template.endsWith('structure.cif'))
        for (const start of ['', '/signed/{signature}'])
          await ask(start + template, `${start.replace('{signature}', 'forged')}${path}?pae=2`, 400);
      await ask(template, template.replace('{taskId}', 'unknown'), 404);
      await ask(`/signed/{signature}${template}`, `/signed/forged${path}`, 403, {}, true);
    }
    for (const [file, field] of [
      ['result.json', 'signedUrl'],
      ['structure.cif', 'structure { signedUrl }'],
      ['structure.pdb', 'structure(format: PDB) { signedUrl }'],
      ['embeddings.npz', 'embeddings { signedUrl }'],
    ]) {
      const { data: signed } = await bench.ask(`{ task(taskId: "${task}") { result { ${field} } } }`);
      const [url = ''] = /http[^"]+/.exec(JSON.stringify(signed)) ?? [];
      await ask(`/signed/{signature}/tasks/{taskId}/${file}`, url, 200, {}, true);
    }
    const { data: all } = await bench.ask(
      `{ task(taskId: "${task}") { result { files { name signedUrl } } } }`,
    );
    for (const file of listAt(all, 'task.result.files'))
      await ask(
        `/signed/{signature}/tasks/{taskId}/${at(file, 'name')}`,
        String(at(file, 'signedUrl')),
        200,
        {},
        true,
      );
    for (const file of ['scores.tsv', 'results.zip']) {
      await ask(`/batches/{batchId}/${file}`, `/batches/${batch}/${file}`, 200);
      await ask(`/batches/{batchId}/${file}`, `/batches/${batch}/${file}?orderBy=IPSAE`, 200);
      await ask(`/batches/{batchId}/${file}`, `/batches/${batch}/${file}?orderBy=ipsae`, 400);
      await ask(`/batches/{batchId}/${file}`, `/batches/unknown/${file}`, 404);
    }

    for (const file of ['export.tsv', 'export.ndjson']) {
      const post = (body: string) => ({ method: 'POST', body });
      await (await ask(`/${file}`, `/${file}?columns=name`, 200, post('P01308'))).text();
      await ask(`/${file}`, `/${file}`, 400, post(''));
      await ask(`/${file}`, `/${file}`, 413, post(`${INSULIN}\n`.repeat(50_001)));
      await (await ask(`/${file}`, `/${file}?ids=P01308&columns=name`, 200)).text();
      await ask(`/${file}`, `/${file}`, 400);
    }

    const hashes = Array.from({ length: 700 }, (_, i) => i.toString(16).padStart(32, '0'));
    const lookup = await bench.query(
      'mutation($input: BulkLookupInput!) { startBulkLookup(input: $input) { ... on BulkLookup { lookupId } } }',
      { input: { hashes: [INSULIN, ...hashes] } },
    );
    const part = '/bulk/{lookupId}/{part}.zip';
    const id = String(at(lookup.data, 'startBulkLookup.lookupId'));
    await ask(part, `/bulk/${id}/7.zip`, 404);
    await ask(part, `/bulk/${id}/0.zip`, 409);
    await bench.pass(600_000);
    await ask(part, `/bulk/${id}/0.zip`, 200, {}, true);
    await ask(part, `/bulk/${id}/0.zip`, 206, { headers: { range: 'bytes=0-3' } });
    await ask(part, `/bulk/${id}/0.zip`, 416, { headers: { range: 'bytes=900000000-' } });
    await bench.pass(2 * DAY_MS);
    await ask(part, `/bulk/${id}/0.zip`, 410);

    await bench.pass(32 * DAY_MS);
    for (const template of taskFiles) await ask(template, template.replace('{taskId}', task), 410);
    await ask('/batches/{batchId}/results.zip', `/batches/${batch}/results.zip`, 410);

    bench.gateway.drain();
    await ask('/ready', '/ready', 503);

    const missing = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ responses }) =>
        Object.keys(responses)
          .filter((status) => status !== 'default' && !seen.get(path)?.has(status))
          .map((status) => `${status} of ${path}`),
      ),
    );
    expect(missing).toEqual(BY_SERVICE);
  });
});
