// npm run simulate -- [--store sqlite|redis] [--seeds N] [--from SEED] [--seed SEED]
// [--mutant NAME]
import { parseArgs } from 'node:util';
import { MUTANT_NAMES } from './mutants.ts';
import { coveragePairs } from './plan.ts';
import { printHistory, Simulator } from './simulate.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { seeds: text, from: text, seed: text, mutant: text, store: text } });
const mutant = MUTANT_NAMES.find((name) => name === values.mutant);
if (values.mutant !== undefined && mutant === undefined)
  throw new Error(`Mutants: ${MUTANT_NAMES.join(', ')}`);
const store = values.store === 'redis' ? 'redis' : 'sqlite';
const from = Number(values.seed ?? values.from ?? 1);
const seeds = values.seed === undefined ? Number(values.seeds ?? 1000) : 1;

const startedAt = performance.now();
const simulator = new Simulator(mutant);
const { played, found, coverage } = await simulator.play({ from, seeds, store });
await simulator.close();
const seconds = (performance.now() - startedAt) / 1000;
for (const one of found) process.stdout.write(`${printHistory(one, mutant)}\n\n`);
if (values.seed === undefined) {
  const pairs = Object.entries(coverage).sort(([a], [b]) => a.localeCompare(b));
  process.stdout.write(
    `${pairs.map(([pair, count]) => `${String(count).padStart(8)}  ${pair}`).join('\n')}\n`,
  );
  const all = coveragePairs(store);
  const missing = all.filter((pair) => !(pair in coverage));
  process.stdout.write(
    `Met ${all.length - missing.length} of ${all.length} pairs. Never: ${missing.join('; ') || 'none'}\n`,
  );
}
process.stdout.write(
  `${played} histories in ${seconds.toFixed(1)} s (${(played / seconds).toFixed(0)} a second), ${found.length} break a promise\n`,
);
process.exitCode = found.length > 0 ? 1 : 0;
