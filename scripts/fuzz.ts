// Fuzzes for a while: `npm run fuzz -- --seconds 60 [--target documents]`. Random seeds, until the
// time is over; a seed that breaks something is printed with its shrunk case and kept in
// test/fuzz/seeds.json, so that the tests try it from then on.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { TARGETS, tryTarget } from '../test/fuzz/targets.ts';
import { openFuzzWorld } from '../test/fuzz/world.ts';

const RUNS = 50;
const MOST_KEPT = 12;
const FILE = new URL('../test/fuzz/seeds.json', import.meta.url);

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, target: { type: 'string' } },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error('--seconds must be a number above 0.');
const names = values.target === undefined ? Object.keys(TARGETS) : [values.target];

function keep(name: string, seed: number): void {
  const all = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number[]>;
  all[name] = [...(all[name] ?? []), seed];
  const lines = Object.entries(all).map(([key, kept]) => `  ${JSON.stringify(key)}: [${kept.join(', ')}]`);
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

const world = await openFuzzWorld();
const end = performance.now() + seconds * 1000;
const tried = new Map(names.map((name) => [name, 0]));
let failures = 0;
while (performance.now() < end && failures < MOST_KEPT) {
  for (const name of names) {
    if (performance.now() >= end) break;
    const seed = Math.floor(Math.random() * 2 ** 31);
    const failure = await tryTarget(world, name, seed, RUNS);
    tried.set(name, (tried.get(name) ?? 0) + 1);
    if (failure === undefined) continue;
    failures += 1;
    keep(name, seed);
    process.stdout.write(`${failure}\n\n`);
  }
}
await world.close();
for (const [name, count] of tried) process.stdout.write(`${name}: ${count} seeds of ${RUNS} runs\n`);
process.stdout.write(failures === 0 ? 'Nothing was found.\n' : `${failures} seeds broke something.\n`);
process.exitCode = failures === 0 ? 0 : 1;
