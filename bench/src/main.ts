// `npm run bench`: starts the stand-in service and the contestants, measures scenario by scenario, prints tables, and ends everything
// it started. `--quick` takes two minutes and is good for nothing but seeing that all runs; `--only NAME` runs what has NAME in its
// name; `--write` writes docs/performance.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinning, pinSelf } from './processes/child.ts';
import { ROOT, startStub } from './processes/contestants.ts';
import type { ScenarioResult } from './report/result.ts';
import { terminalTable, terminalTarget } from './report/table.ts';
import { batchWalk, pae, watchers } from './scenarios/batches.ts';
import { type Bench, openBench } from './scenarios/bench.ts';
import { coldSmall, coldUnlike } from './scenarios/cold.ts';
import { growth } from './scenarios/growth.ts';
import { hotOne, hotTiny } from './scenarios/hot.ts';
import { coldList, farList, hotList } from './scenarios/lists.ts';
import { startUp, workers } from './scenarios/processes.ts';
import { structures } from './scenarios/structures.ts';
import { thumbnails } from './scenarios/thumbnails.ts';
import { makeTemplates, writeTemplates } from './world/templates.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

/** The order in which they run. */
const SCENARIOS: Readonly<Record<string, (bench: Bench) => Promise<ScenarioResult>>> = {
  'hot tiny': hotTiny,
  'hot one': hotOne,
  'cold small': coldSmall,
  'cold unlike': coldUnlike,
  'list cold': coldList,
  'list far': farList,
  'list hot': hotList,
  structures,
  thumbnails,
  'batch walk': batchWalk,
  watchers,
  pae,
  growth,
  'start-up': startUp,
  workers,
};

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-bench-'));
const apart = pinning() && availableParallelism() > 1;
const templates = makeTemplates();
const templatesFile = join(folder, 'templates');
writeTemplates(templatesFile, templates);
const stub = await startStub(folder, apart ? 1 : undefined, templatesFile);
if (apart) pinSelf(1);
const live = process.stderr.isTTY;
const bench = openBench({
  quick: values.quick,
  start: { folder, upstream: stub.url, core: apart ? 0 : undefined },
  templates,
  stubUrl: stub.url,
  stub,
  progress: (text) => void (live && process.stderr.write(`\x1b[2K\r  ${text}`)),
});

const results: ScenarioResult[] = [];
const since = performance.now();
try {
  for (const [name, run] of Object.entries(SCENARIOS)) {
    if (!name.includes(values.only)) continue;
    process.stderr.write(
      `${live ? '\x1b[2K\r' : ''}${((performance.now() - since) / 1000).toFixed(0)} s: ${name}\n`,
    );
    const result = await run(bench);
    results.push(result);
    if (live) process.stderr.write('\x1b[2K\r');
    for (const table of result.tables) process.stdout.write(`${terminalTable(table)}\n`);
    for (const text of result.missing ?? []) process.stdout.write(`${text}\n`);
    for (const target of result.targets) process.stdout.write(`${terminalTarget(target)}\n`);
  }
} finally {
  await bench.close();
  await stub.stop();
  rmSync(folder, { recursive: true, force: true });
}
const out = join(ROOT, 'bench/results');
mkdirSync(out, { recursive: true });
const file = join(
  out,
  `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}${values.quick ? '-quick' : ''}.json`,
);
writeFileSync(file, `${JSON.stringify({ quick: values.quick, results }, null, 2)}\n`);
process.stdout.write(`\n${file}\n`);
