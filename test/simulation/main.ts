// npm run simulate -- [--store sqlite|redis] [--seeds N] [--from SEED] [--seed SEED]
// [--mutant NAME]
import { parseArgs } from 'node:util';
import { MUTANTS } from './mutants.ts';
import { coveragePairs } from './plan.ts';
import { printHistory, simulate } from './simulate.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { seeds: text, from: text, seed: text, mutant: text, store: text } });
const fault = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && fault === undefined)
  throw new Error(`Mutants: ${MUTANTS.map(({ name }) => name).join(', ')}`);
const store = values.store === 'redis' ? 'redis' : 'sqlite';
const from = Number(values.seed ?? values.from ?? 1);
const seeds = values.seed === undefined ? Number(values.seeds ?? 1000) : 1;

const startedAt = performance.now();
const { played, found, coverage } = await simulate({ from, seeds, store, fault });
const seconds = (performance.now() - startedAt) / 1000;
const lines = found.map((one) => `${printHistory(one, values.mutant)}\n`);
if (values.seed === undefined) {
  const pairs = Object.entries(coverage).sort(([a], [b]) => a.localeCompare(b));
  const all = coveragePairs(store);
  const missing = all.filter((pair) => !(pair in coverage));
  lines.push(
    ...pairs.map(([pair, count]) => `${String(count).padStart(8)}  ${pair}`),
    `Met ${all.length - missing.length} of ${all.length} pairs. Never: ${missing.join('; ') || 'none'}`,
  );
}
lines.push(
  `${played} histories in ${seconds.toFixed(1)} s (${(played / seconds).toFixed(0)} a second), ${found.length} break a promise`,
);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = found.length > 0 ? 1 : 0;
