// The table of routes and methods: `Allow` of OPTIONS, of a preflight and of every 405 say the same
// of each address, and what they say is so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const READ = 'GET, HEAD, OPTIONS';
const READ_AND_POST = 'GET, HEAD, POST, OPTIONS';
/** An address of each route. A new route has to be added here. */
const ROUTES: Readonly<Record<string, string>> = {
  '/graphql': READ_AND_POST,
  '/mcp': 'POST, OPTIONS',
  '/health': READ,
  '/ready': READ,
  '/metrics': READ,
  '/': READ,
  '/llms.txt': READ,
  '/schema.graphql': READ,
  '/openapi.json': READ,
  '/assets/style.css': READ,
  '/examples/01-lookup.graphql': READ,
  [`/structures/${HASH}.pdb`]: READ,
  [`/thumbnails/${HASH}/plddt.png`]: READ,
  '/tasks/b1-00000/result.json': READ,
  '/signed/forged/tasks/b1-00000/structure.cif': READ,
  '/batches/b1/results.zip': READ,
  '/bulk/abc/0.zip': READ,
  '/export.tsv': READ_AND_POST,
  '/export.ndjson': READ_AND_POST,
};
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const ORIGIN = 'https://app.example';

let world: World;
beforeAll(async () => {
  world = await openWorld({ CORS_ORIGINS: ORIGIN });
});
afterAll(() => world.close());

const ask = (path: string, method: string, headers: Record<string, string> = {}) =>
  world.gateway.fetch(new Request(`http://gateway.test${path}`, { method, headers }));

it('has an address of every route', () => {
  const missing = world.gateway.routes.filter(
    ({ path }) => !Object.keys(ROUTES).some((address) => path.test(address)),
  );
  expect(missing.map(({ path }) => path.source)).toEqual([]);
});

describe.each(Object.entries(ROUTES))('%s', (path, allow) => {
  const methods = allow.split(', ');

  it('says which methods it takes', async () => {
    const options = await ask(path, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
    const preflight = await ask(path, 'OPTIONS', {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
      204,
      methods.filter((method) => method !== 'OPTIONS').join(', '),
    ]);
  });

  it.each(METHODS)('takes or refuses %s as it says', async (method) => {
    const response = await ask(path, method);
    const text = await response.text();
    if (methods.includes(method)) return expect(response.status).not.toBe(405);
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    if (method === 'HEAD') return;
    const verbs = allow.replace(/, HEAD|, OPTIONS/g, '').replace(', ', ' or ');
    const message = path === '/graphql' ? at(JSON.parse(text), 'errors.0.message') : text.trim();
    expect(message).toBe(`Send requests to this address by ${verbs}.`);
    expect(response.headers.get('content-type')).toMatch(path === '/graphql' ? /json/ : /^text\/plain/);
  });
});

it.each([...METHODS, 'OPTIONS'])('an address that no route has answers 404 to %s', async (method) => {
  const response = await ask('/nowhere', method);
  expect([response.status, response.headers.get('allow')]).toEqual([404, null]);
});
