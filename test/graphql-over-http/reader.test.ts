// The reader of requests over whatever anybody sends: it gives parameters or a refusal with a 4xx
// status, never anything else, and the gateway never answers 500.

import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { negotiateResponseType } from '../../src/http/graphql/media-type.ts';
import { parseBody, parseSearch, type RequestParams } from '../../src/http/graphql/read-request.ts';
import { at, openWorld, type World } from '../support.ts';

const PARAMS = ['query', 'operationName', 'variables', 'extensions', 'documentId'];

/** The parameters that were read, or the status of the refusal. @throws any other error */
function outcome(read: () => RequestParams | undefined): RequestParams | number {
  try {
    return read() ?? {};
  } catch (error) {
    if (error instanceof GraphQLError) return Number(at(error.extensions, 'http.status'));
    throw error;
  }
}

function expectSound(found: RequestParams | number): void {
  if (typeof found === 'number') {
    expect(found).toBe(400);
    return;
  }
  expect(Object.keys(found).every((name) => PARAMS.includes(name))).toBe(true);
}

const member = fc.constantFrom(...PARAMS, 'doc_id', '__proto__', 'constructor', 'toString', 'x');
const body = fc.oneof(
  fc.dictionary(
    member,
    fc.oneof(
      fc.json().map((text): unknown => JSON.parse(text)),
      fc.string(),
      fc.constant('{__typename}'),
    ),
  ),
  fc.json().map((text): unknown => JSON.parse(text)),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  body.map((value) => new TextEncoder().encode(JSON.stringify(value))),
  fc
    .tuple(body, fc.nat(300))
    .map(([value, end]) => new TextEncoder().encode(JSON.stringify(value)).slice(0, end)),
);

describe('the reader of requests', () => {
  it('reads or refuses any body', () => {
    fc.assert(
      fc.property(bytes, (sent) => expectSound(outcome(() => parseBody(sent)))),
      { numRuns: 1000 },
    );
  });

  it('reads or refuses any query string', () => {
    const search = fc.oneof(
      fc.string(),
      fc.dictionary(member, fc.string()).map((given) => new URLSearchParams(given).toString()),
    );
    fc.assert(
      fc.property(search, (sent) => expectSound(outcome(() => parseSearch(sent)))),
      { numRuns: 500 },
    );
  });

  it('reads back what a client writes', () => {
    const variables = fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      fc.oneof(fc.integer(), fc.string(), fc.boolean()),
    );
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), variables, (query, given) => {
        expect(parseBody(new TextEncoder().encode(JSON.stringify({ query, variables: given })))).toEqual({
          query,
          variables: given,
        });
        const search = new URLSearchParams({ query, variables: JSON.stringify(given) });
        expect(parseSearch(`?${search}`)).toEqual({ query, variables: given });
      }),
      { numRuns: 300 },
    );
  });

  it('gives some media type or none for any Accept header', () => {
    const part = fc.constantFrom(
      '*/*',
      'application/*',
      'application/json',
      'text/html',
      'q=0',
      'q=0.5',
      ';',
      ',',
      ' ',
      'charset=utf-8',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('')),
        ),
        (accept) => {
          expect([
            null,
            'application/json',
            'application/graphql-response+json',
            'multipart/mixed',
            'text/event-stream',
          ]).toContain(negotiateResponseType(accept));
        },
      ),
    );
  });
});

describe('the gateway', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it('answers any body and any short document with JSON and no 5xx', async () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '(',
      ')',
      '[',
      ']',
      'query',
      'mutation',
      'protein',
      'hash',
      ':',
      '"x"',
      '$a',
      '...',
      '@skip',
      '__typename',
      'on',
      '!',
      '1',
      'fragment',
      'a',
    );
    const document = fc
      .array(token, { maxLength: 12 })
      .map((tokens) => new TextEncoder().encode(JSON.stringify({ query: tokens.join(' ') })));
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, document), async (sent) => {
        const response = await world.gateway.fetch(
          new Request('http://gateway.test/graphql', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: sent.slice(),
          }),
        );
        expect(response.status).toBeLessThan(500);
        const answer: unknown = await response.json();
        expect(
          Object.keys(Object(answer)).every((name) => ['data', 'errors', 'extensions'].includes(name)),
        ).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
