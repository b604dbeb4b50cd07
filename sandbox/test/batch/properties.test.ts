// Thousands of bodies that are almost right: never a 500, never a hang, and nothing is stored by a
// refusal.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectLinear, GROWTH } from '../../../test/cpu-time.ts';
import { runs } from '../../../test/property-runs.ts';
import type { Sandbox } from '../../src/sandbox.ts';
import { type Answer, batch, type client, input, isJson, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let call: ReturnType<typeof client>;
let known: { batch_id: string; task_id: string };

beforeAll(async () => {
  ({ sandbox, call } = await startHeld({ limits: { submissionsPerMinute: 1e6, creditsPerDay: 1e12 } }));
  const { data } = await call('submit', full());
  known = { batch_id: readText(data, 'batch_id'), task_id: `${readText(data, 'batch_id')}-00000` };
});
afterAll(() => sandbox.close());

/** A body that uses every field there is. */
function full() {
  return batch(
    [
      input(
        {
          sequences: [
            {
              type: 'protein',
              id: ['A', 'B'],
              sequence: 'MKT',
              modifications: [{ position: 1, ccd: 'SEP' }],
              msa: null,
            },
            { type: 'rna', id: 'R', sequence: 'ACGU' },
            { type: 'dna', sequence: 'ACGT' },
            { type: 'ligand', id: 'L', smiles: 'CCO' },
            { type: 'ligand', id: 'M', ccd: ['ATP', 'MG'] },
          ],
          covalent_bonds: [
            { chain_id1: 'A', res_idx1: 0, atom_idx1: 1, chain_id2: 'L', res_idx2: 0, atom_idx2: 0 },
          ],
          pocket: { binder_chain_id: 'L', contacts: [['A', 2]] },
          distogram_conditioning: [
            { chain_id: 'R', distogram: Array.from({ length: 4 }, () => [0, 1, 2, 3]) },
          ],
        },
        { include_pae: true, potential_sequence_of_concern: false },
      ),
      input({ sequences: [{ type: 'protein', sequence: 'MK' }] }),
    ],
    { repeat: 2 },
  );
}

type Path = (string | number)[];

function listPaths(value: unknown, path: Path = []): Path[] {
  const inside = Array.isArray(value)
    ? value.flatMap((entry, index) => listPaths(entry, [...path, index]))
    : isJson(value)
      ? Object.entries(value).flatMap(([key, entry]) => listPaths(entry, [...path, key]))
      : [];
  return [path, ...inside];
}

/** The value with what `change` makes of the part at `path`; `undefined` removes it. */
function changed(value: unknown, path: Path, change: (part: unknown) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    const entry = changed(value[Number(step)], rest, change);
    return value.flatMap((old: unknown, index) =>
      index !== step ? [old] : entry === undefined ? [] : [entry],
    );
  }
  return isJson(value) ? { ...value, [step]: changed(value[step], rest, change) } : value;
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    2001,
    '',
    'A',
    '\u0000',
    '😀',
    'x'.repeat(3000),
    [],
    {},
    [[]],
    [null],
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc
    .constantFrom('__proto__', 'constructor', 'toString')
    .map((key) => JSON.parse(`{"${key}": {"x": 1}}`) as unknown),
);

const mutation = (body: () => unknown) =>
  fc
    .array(
      fc.tuple(
        fc.nat(),
        fc.oneof(
          odd.map((value) => () => value),
          fc.constant(() => undefined),
          fc.constant(twice),
          odd.map(withField),
        ),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((steps) => {
      let value = body();
      for (const [pick, change] of steps) {
        const paths = listPaths(value);
        value = changed(value, paths[pick % paths.length] ?? [], change);
      }
      return value;
    });

const twice = (part: unknown): unknown => (Array.isArray(part) ? [...part, ...part] : [part, part]);
const withField = (extra: unknown) => (part: unknown) =>
  isJson(part) ? { ...part, [JSON.stringify(extra) ?? 'x']: extra } : extra;

async function storedBatches(): Promise<number> {
  const state: unknown = await (await fetch(`${sandbox.url}/control`)).json();
  return isJson(state) && Array.isArray(state.batches) ? state.batches.length : -1;
}

function checkShape({ status, body }: Answer): void {
  if (status === 200) expect(body).toMatchObject({ status: 'success', request_id: expect.any(String) });
  else {
    expect(body).toMatchObject({
      status: 'error',
      request_id: expect.any(String),
      message: expect.any(String),
    });
    expect(String(body.message).length).toBeLessThan(4000);
  }
}

test('mutated Submit bodies', async () => {
  let stored = await storedBatches();
  await fc.assert(
    fc.asyncProperty(mutation(full), async (body) => {
      const answer = await call('submit', JSON.stringify(body) ?? '');
      expect([200, 400]).toContain(answer.status);
      checkShape(answer);
      if (answer.status === 200) {
        stored += 1;
        await call('cancel', { batch_id: answer.data.batch_id });
        if (stored > 50) {
          await fetch(`${sandbox.url}/control/reset`, { method: 'POST' });
          stored = 0;
        }
      } else expect(await storedBatches()).toBe(stored);
    }),
    { numRuns: runs(300), interruptAfterTimeLimit: 25_000 },
  );
});

test.each([
  [
    'list',
    () => ({
      ...known,
      task_id: undefined,
      include_responses: true,
      status: 'queued',
      limit: 2,
      cursor: 'MC4wMDAwMDAwMDAwMDA',
    }),
  ],
  ['list', () => ({ batch_id: known.batch_id, limit: 1000 })],
  ['status', () => ({ task_id: known.task_id })],
  ['cancel', () => ({ batch_id: known.batch_id })],
  ['cancel', () => ({ task_id: known.task_id })],
])('mutated %s bodies (%#)', async (operation, body) => {
  await fc.assert(
    fc.asyncProperty(mutation(body), async (mutated) => {
      const answer = await call(operation, JSON.stringify(mutated) ?? '');
      expect([200, 400, 404, 409]).toContain(answer.status);
      checkShape(answer);
    }),
    { numRuns: runs(150), interruptAfterTimeLimit: 15_000 },
  );
});

test('bodies that are broken as text', async () => {
  const text = JSON.stringify(full());
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: text.length }),
      fc.nat({ max: 6 }),
      fc.string({ unit: 'binary', maxLength: 6 }),
      async (at, cut, put) => {
        const answer = await call('submit', text.slice(0, at) + put + text.slice(at + cut));
        expect([200, 400]).toContain(answer.status);
        checkShape(answer);
      },
    ),
    { numRuns: runs(150), interruptAfterTimeLimit: 15_000 },
  );
});

const nest = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const protein = (more: Record<string, unknown> = {}) => ({ type: 'protein', sequence: 'M', ...more });

test.each<[name: string, make: (part: number) => string]>([
  ['a deep nest', (part) => nest(200_000 * part)],
  [
    'a deep nest in a field',
    (part) => JSON.stringify(full()).replace('"smiles":"CCO"', `"smiles":${nest(100_000 * part)}`),
  ],
  [
    'a million bad contacts',
    (part) =>
      JSON.stringify(
        batch([
          input({
            sequences: [protein()],
            pocket: { binder_chain_id: 'A', contacts: Array(1_000_000 * part).fill(0) },
          }),
        ]),
      ),
  ],
  [
    'a distogram of a million words',
    (part) =>
      JSON.stringify(
        batch([
          input({
            sequences: [protein()],
            distogram_conditioning: [
              { chain_id: 'A', distogram: Array(1000 * part).fill(Array(1000).fill('x')) },
            ],
          }),
        ]),
      ),
  ],
  [
    'two thousand items of two thousand bad modifications',
    (part) =>
      JSON.stringify(
        batch(
          Array(2000 * part).fill(input({ sequences: [protein({ modifications: Array(2000).fill(0) })] })),
        ),
      ),
  ],
  [
    'eight million letters',
    (part) =>
      JSON.stringify(batch([input({ sequences: [protein({ sequence: 'A'.repeat(8_000_000 * part) })] })])),
  ],
])('%s is refused in linear time', async (_name, make) => {
  const [small, large] = [make(1 / GROWTH), make(1)];
  expect((await call('submit', large)).status).toBe(400);
  await expectLinear(
    () => call('submit', small),
    () => call('submit', large),
  );
});
