// Bodies of which JSON.parse would make many times their size are refused before it sees them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function send(body: string): Promise<{ status: number; text: string }> {
  const response = await world.gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
      body,
    }),
  );
  return { status: response.status, text: await response.text() };
}

it.each([
  ['five million objects', `{"variables":{"a":[${'{},'.repeat(5_000_000)}{}]}}`],
  ['five million lists', `{"variables":{"a":[${'[],'.repeat(5_000_000)}[]]}}`],
  ['lists eight million levels deep', '['.repeat(8_000_000) + ']'.repeat(8_000_000)],
])('%s are refused', async (_, body) => {
  const { status, text } = await send(body);
  expect(status).toBe(400);
  expect(text).toMatch(/opening brackets; 1000000 are allowed/);
});

it('what is within the limit is parsed, however long it is', async () => {
  const smiles = '[C]'.repeat(900_000);
  const query = 'query($x: String!) { lookup(ids: [$x]) { status } }';
  expect(await send(JSON.stringify({ query, variables: { x: smiles } }).padEnd(10_000_000))).toMatchObject({
    status: 200,
  });
});
