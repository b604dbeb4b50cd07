// urql as it comes: short queries by GET, subscriptions over graphql-sse, errors with their codes.
import type { Client } from '@urql/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFoldAtlasClient } from '../../../examples/clients/urql.ts';
import { at } from '../../support.ts';
import { FOLD, INSULIN, openPlace, type Place, SUBMIT, TOKEN, WATCH } from './place.ts';

let place: Place;
let client: Client;
beforeAll(async () => {
  place = await openPlace({ CACHE_RECORDS_SECONDS: '60' });
  client = createFoldAtlasClient({ url: place.url, headers: TOKEN });
});
afterAll(() => place.close());

it('reads by GET, as its defaults are, and caches may keep what is public', async () => {
  const answered: (string | null)[] = [];
  const { data, error } = await client.query(
    'query Card($hash: ProteinHash!) { protein(hash: $hash) { hash name } }',
    { hash: INSULIN },
    {
      fetch: async (...args: Parameters<typeof fetch>) => {
        const response = await fetch(...args);
        answered.push(response.headers.get('cache-control'));
        return response;
      },
    },
  );
  expect([data, error]).toEqual([{ protein: { hash: INSULIN, name: 'Insulin' } }, undefined]);
  expect(place.requests.map(({ method }) => method)).toEqual(['GET']);
  expect(answered).toEqual(['public, max-age=60']);
});

it('submits by POST and watches to the last event', async () => {
  place.requests.length = 0;
  const submitted = await client.mutation(SUBMIT, FOLD);
  expect(at(submitted.data, 'submitFold.__typename')).toBe('FoldSubmitted');
  expect(place.requests.map(({ method }) => method)).toEqual(['POST']);
  const id = at(submitted.data, 'submitFold.batch.batchId');
  const events: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    const watching = client.subscription(WATCH, { id }).subscribe(({ data, error }) => {
      if (error !== undefined) return reject(error);
      events.push(data);
      if (at(data, 'batchProgress.final') !== true) return;
      queueMicrotask(() => watching.unsubscribe());
      resolve();
    });
  });
  expect(at(events.at(-1), 'batchProgress.batch.counts')).toMatchObject({ total: 1, done: 1 });
});

it('has the codes of refusals of the whole and of a part', async () => {
  const listCodes = (error: { graphQLErrors: { extensions: object }[] } | undefined) =>
    error?.graphQLErrors.map(({ extensions }) => at(extensions, 'code'));
  const wrong = await client.query('{ nothing }', {});
  expect(wrong.error?.graphQLErrors[0]?.message).toMatch(/nothing/);
  const part = await client.query(
    '{ limits { maxItems } batch(batchId: "00000000-0000-4000-8000-000000000000") { batchId } }',
    {},
    { fetchOptions: { headers: { authorization: 'Bearer sandbox-revoked' } } },
  );
  expect(part.data).toMatchObject({ limits: { maxItems: 2000 }, batch: null });
  expect([listCodes(wrong.error), listCodes(part.error)]).toEqual([['BAD_USER_INPUT'], ['UNAUTHENTICATED']]);
});
