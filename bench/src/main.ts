// `npm run bench`: measures scenario by scenario, each with a stand-in service and contestants
// started for it, prints tables, and ends everything it started.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinning, pinSelf, stopAll } from './processes/child.ts';
import { ROOT, startStub } from './processes/contestants.ts';
import { document } from './report/document.ts';
import { readMachine } from './report/machine.ts';
import { isMet, joinReports, type Report, type ScenarioResult } from './report/result.ts';
import { terminalTable, terminalTarget } from './report/table.ts';
import { type Bench, openBench } from './scenarios/bench.ts';
import { coldSmall } from './scenarios/cold.ts';
import { hotOne, hotTiny } from './scenarios/hot.ts';
import { coldList, farList } from './scenarios/lists.ts';
import { mix } from './scenarios/mix.ts';
import { mutations } from './scenarios/mutations.ts';
import { pairs } from './scenarios/pairs.ts';
import { startUp } from './scenarios/processes.ts';
import { scale } from './scenarios/scale.ts';
import { structures } from './scenarios/structures.ts';
import { watchers } from './scenarios/watchers.ts';
import { makeTemplates, type Template, writeTemplates } from './world/templates.ts';

type Run = (bench: Bench) => Promise<ScenarioResult>;

/**
 * The order in which they run, and about how many seconds each takes at rest. What goes on is asked
 * of the processes of the scenario before.
 */
const SCENARIOS: Readonly<Record<string, readonly [Run, seconds: number, goesOn?: true]>> = {
  'hot tiny': [hotTiny, 45],
  'hot one': [hotOne, 40],
  'cold small': [coldSmall, 60],
  'list cold': [coldList, 120],
  'list far': [farList, 20, true],
  structures: [structures, 120],
  mix: [mix, 240],
  mutations: [mutations, 80],
  watchers: [watchers, 25],
  'start-up': [startUp, 45],
  scale: [scale, 40],
  pairs: [pairs, 600],
};

/** Duration of a scenario in a quick run, about. */
const QUICK_SECONDS = 4;

const USAGE = `npm run bench -- [options]        measures, prints tables, keeps numbers in bench/results
npm run bench -- FILE.json ...    measures nothing: writes docs/performance.md from whole runs

  --quick         shows in one minute that everything runs; its numbers say nothing
  --only WORDS    only the scenarios with these words in their name
  --pairs N       pairs of new processes for each kind of query in the scenario "pairs"; 8 by default
  --rows WORDS    of the scenario "pairs" only the kinds with these words in their name
  --checkout DIR  measures another built checkout as well; may be given several times
  --write         also writes docs/performance.md and its plot; for a whole run
  --help          prints this

Scenarios: ${Object.keys(SCENARIOS).join(', ')}
`;

/** Ends the process with what is wrong with its arguments. */
function refuse(text: string): never {
  process.stderr.write(`${text}\n\n${USAGE}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        pairs: { type: 'string', default: '8' },
        rows: { type: 'string', default: '' },
        checkout: { type: 'string', multiple: true, default: [] },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(USAGE);
  process.exit();
}
const chosen = Object.entries(SCENARIOS).filter(([name]) => name.includes(values.only));
if (chosen.length === 0) refuse(`No scenario has "${values.only}" in its name.`);
const pairCount = Number(values.pairs);
if (!Number.isInteger(pairCount) || pairCount < 2) refuse('--pairs is a whole number from 2 on.');
if (values.write && (values.quick || values.only !== '' || values.rows !== '' || values.checkout.length > 0))
  refuse('--write is for a whole run: leave out --quick, --only, --rows and --checkout.');
for (const folder of values.checkout)
  if (!existsSync(join(folder, 'dist/server.js'))) refuse(`${folder} is no built checkout of FoldAtlas.`);

const live = process.stderr.isTTY;
const failures: string[] = [];

/** The setting in which a scenario is run. */
interface Setting {
  /** Where the processes of one scenario write. */
  readonly folder: string;
  readonly templates: readonly Template[];
  /** The same templates, for the stand-in. */
  readonly file: string;
  /** Whether the measured process has a core of its own. */
  readonly apart: boolean;
}

/**
 * Runs one scenario and prints its tables. One that fails, by a wrong answer or otherwise, fails
 * the bench; the others go on.
 */
async function runScenario(name: string, run: () => Promise<ScenarioResult>): Promise<ScenarioResult[]> {
  try {
    const result = await run();
    if (live) process.stderr.write('\x1b[2K\r');
    for (const table of result.tables) process.stdout.write(`${terminalTable(table)}\n`);
    for (const text of result.missing ?? []) process.stdout.write(`${text}\n`);
    for (const target of result.targets) process.stdout.write(`${terminalTarget(target)}\n`);
    return [result];
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    failures.push(`${name}: ${text}`);
    process.stderr.write(`FAILED ${name}: ${text}\n`);
    return [];
  }
}

/** A stand-in service, and contestants that are started when they are needed. */
async function startBench({ folder, templates, file, apart }: Setting): Promise<Bench> {
  const stub = await startStub(folder, apart ? 1 : undefined, file);
  return openBench({
    quick: values.quick,
    checkouts: values.checkout,
    pairs: pairCount,
    rows: values.rows,
    start: { folder, upstream: stub.url, core: apart ? 0 : undefined },
    templates,
    stub,
    progress: (text) => void (live && process.stderr.write(`\x1b[2K\r  ${text}`)),
  });
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
  const total = chosen.reduce((sum, [, [, seconds]]) => sum + (values.quick ? QUICK_SECONDS : seconds), 0);
  process.stderr.write(`${chosen.length} scenarios, about ${Math.ceil(total / 60)} min\n`);
  let bench: Bench | undefined;
  const close = async (): Promise<void> => {
    await stopAll();
    bench = undefined;
  };
  try {
    for (const [n, [name, [run, , goesOn]]] of chosen.entries()) {
      const passed = ((performance.now() - since) / 1000).toFixed(0);
      process.stderr.write(`${passed} s: ${name} (${n + 1} of ${chosen.length})\n`);
      // No earlier process may count, nor idle beside this one.
      if (goesOn !== true && !values.quick) await close();
      const folder = mkdtempSync(join(root, `${name.replaceAll(' ', '-')}-`));
      const setting = { folder, templates, file, apart };
      const result = await runScenario(name, async () => {
        bench ??= await startBench(setting);
        return run(bench);
      });
      results.push(...result);
      if (result.length === 0) await close();
    }
    process.stderr.write(`${((performance.now() - since) / 1000).toFixed(0)} s: done\n`);
  } finally {
    await close();
    rmSync(root, { recursive: true, force: true });
  }
  return results;
}

const writePage = (report: Report): void =>
  writeFileSync(join(ROOT, 'docs/performance.md'), document(report));

if (positionals.length > 0) {
  const report = joinReports(positionals.map((name) => JSON.parse(readFileSync(name, 'utf8')) as Report));
  if (report.quick) refuse('The numbers of a quick run are no page.');
  writePage(report);
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
  if (values.write && failures.length === 0) writePage(report);
  for (const failure of failures) process.stderr.write(`\nFAILED ${failure}\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
