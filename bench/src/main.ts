// `npm run bench`: measures scenario by scenario, each with a stand-in service and contestants started for it, prints tables, and ends
// everything it started. `--quick` takes two minutes and is good for nothing but seeing that all runs; `--only NAME` runs what has NAME in its
// name; `--beside DIR` measures a built checkout in place of the peers; `--write` writes docs/performance.md. Given result files it measures nothing and writes the page from them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinning, pinSelf } from './processes/child.ts';
import { ROOT, startStub } from './processes/contestants.ts';
import { document, growthLines, PLOT_FILE } from './report/document.ts';
import { readMachine } from './report/machine.ts';
import { plot } from './report/plot.ts';
import { isMet, joinReports, type Report, type ScenarioResult } from './report/result.ts';
import { terminalTable, terminalTarget } from './report/table.ts';
import { batchWalk, pae, watchers } from './scenarios/batches.ts';
import { type Bench, openBench } from './scenarios/bench.ts';
import { coldSmall, coldText, coldUnlike } from './scenarios/cold.ts';
import { dialects } from './scenarios/dialects.ts';
import { growth } from './scenarios/growth.ts';
import { hotOne, hotTiny } from './scenarios/hot.ts';
import { coldList, farList, hotList } from './scenarios/lists.ts';
import { distances, mixed } from './scenarios/mixed.ts';
import { mutations } from './scenarios/mutations.ts';
import { startUp, workers } from './scenarios/processes.ts';
import { scale } from './scenarios/scale.ts';
import { structures } from './scenarios/structures.ts';
import { thumbnails } from './scenarios/thumbnails.ts';
import { makeTemplates, type Template, writeTemplates } from './world/templates.ts';

const { values, positionals } = parseArgs({
  strict: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    beside: { type: 'string', multiple: true, default: [] },
  },
  allowPositionals: true,
});

/** The order in which they run. */
const SCENARIOS: Readonly<Record<string, (bench: Bench) => Promise<ScenarioResult>>> = {
  'hot tiny': hotTiny,
  'hot one': hotOne,
  'cold small': coldSmall,
  'cold text': coldText,
  'cold unlike': coldUnlike,
  distances,
  'list cold': coldList,
  'list far': farList,
  'list hot': hotList,
  structures,
  thumbnails,
  mutations,
  mixed,
  dialects,
  'batch walk': batchWalk,
  watchers,
  pae,
  growth,
  'start-up': startUp,
  workers,
  scale,
};

const live = process.stderr.isTTY;
const failures: string[] = [];

/** What a scenario is run in. */
interface Setting {
  /** Where the processes of one scenario write. */
  readonly folder: string;
  readonly templates: readonly Template[];
  /** The same templates, for the stand-in. */
  readonly file: string;
  /** Whether whoever is measured has a core of its own. */
  readonly apart: boolean;
}

/** Runs one scenario and prints its tables. One that fails, by a wrong answer or otherwise, fails the bench; the others go on. */
async function runScenario(name: string, run: () => Promise<ScenarioResult>): Promise<ScenarioResult[]> {
  try {
    const result = await run();
    if (live) process.stderr.write('\x1b[2K\r');
    for (const table of result.tables) process.stdout.write(`${terminalTable(table)}\n`);
    for (const text of result.missing ?? []) process.stdout.write(`${text}\n`);
    if (values.beside.length > 0) return [result];
    for (const target of result.targets) process.stdout.write(`${terminalTarget(target)}\n`);
    return [result];
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    failures.push(`${name}: ${text}`);
    process.stderr.write(`FAILED ${name}: ${text}\n`);
    return [];
  }
}

/** Gives a scenario a stand-in service and contestants of its own and ends them behind it: nothing that ran before may count, nor idle beside it. */
async function withBench<T>(setting: Setting, run: (bench: Bench) => Promise<T>): Promise<T> {
  const { folder, templates, file, apart } = setting;
  const stub = await startStub(folder, apart ? 1 : undefined, file);
  const bench = openBench({
    quick: values.quick,
    checkouts: values.beside,
    start: { folder, upstream: stub.url, core: apart ? 0 : undefined },
    templates,
    stub,
    progress: (text) => void (live && process.stderr.write(`\x1b[2K\r  ${text}`)),
  });
  try {
    return await run(bench);
  } finally {
    await bench.close();
    await stub.stop();
  }
}

/** Measures scenario by scenario. */
async function measureAll(apart: boolean): Promise<ScenarioResult[]> {
  const root = mkdtempSync(join(tmpdir(), 'foldatlas-bench-'));
  const templates = makeTemplates();
  const file = join(root, 'templates');
  writeTemplates(file, templates);
  if (apart) pinSelf(1);
  const results: ScenarioResult[] = [];
  const since = performance.now();
  try {
    for (const [name, run] of Object.entries(SCENARIOS)) {
      if (!name.includes(values.only)) continue;
      process.stderr.write(`${((performance.now() - since) / 1000).toFixed(0)} s: ${name}\n`);
      const folder = mkdtempSync(join(root, `${name.replaceAll(' ', '-')}-`));
      const setting = { folder, templates, file, apart };
      results.push(...(await runScenario(name, () => withBench(setting, run))));
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return results;
}

function writePage({ machine, results, quick }: Report): void {
  writeFileSync(join(ROOT, 'docs/performance.md'), document(machine, results, quick));
  const labels = { x: 'proteins in a query', y: 'CPU time, ms' };
  writeFileSync(join(ROOT, 'docs', PLOT_FILE), plot(growthLines(results), labels));
}

if (positionals.length > 0) {
  writePage(joinReports(positionals.map((name) => JSON.parse(readFileSync(name, 'utf8')) as Report)));
} else {
  const apart = pinning() && availableParallelism() > 1;
  const machine = readMachine(ROOT, apart);
  const report: Report = { machine, quick: values.quick, results: await measureAll(apart) };
  const out = join(ROOT, 'bench/results');
  mkdirSync(out, { recursive: true });
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const file = join(out, `${time}${values.quick ? '-quick' : ''}.json`);
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  const targets = report.results.flatMap((result) => result.targets);
  process.stdout.write(`\n${targets.filter(isMet).length} of ${targets.length} targets are met.\n${file}\n`);
  if (values.write && values.only === '' && values.beside.length === 0 && failures.length === 0)
    writePage(report);
  for (const failure of failures) process.stderr.write(`\nFAILED ${failure}\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
