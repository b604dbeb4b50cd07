// docs/performance.md out of results: what was measured on what and how, every target met or missed, every table. Pure.
import type { Machine } from './machine.ts';
import type { Line } from './plot.ts';
import { isMet, type ScenarioResult } from './result.ts';
import { markdownTable, markdownTargets } from './table.ts';

/** The plot's name, beside the document. */
export const PLOT_FILE = 'performance-growth.svg';

const METHOD = `Every contestant is a process of its own with \`NODE_ENV=production\`, started for one scenario and ended behind it, asked alone, in rounds whose order rotates; numbers are medians over the rounds, p50
and p99 those of a round. Everybody is loaded until an answer costs no less than before, 15 seconds at most; where memory is measured before that, in new processes, it is said. Before load each one's answers are compared with the expected data, value by value; a wrong one fails the run. FoldAtlas
runs as it is built, with all security limits, the request log (to a file) and the metrics on; only how much is allowed is raised. The peers have none of that and their
production settings; what each consists of is told in [bench/README.md](../bench/README.md).

The service is a stand-in: prepared answers in the shapes and sizes of the real ones, structures of about 30 KB, with a delay where a table says so. "Per core" is answers
for the same CPU time of the process, all its threads counted; the ratio says how many times as many FoldAtlas gives. Upstream calls are those that the stand-in
counted, for one answer. Peak memory is the resident set at its highest during the rounds.

\`npm run bench\` does it again on your machine, in about a quarter of an hour; \`npm run bench -- --write\` writes this page.`;

const REASONS = `Every request takes one way: limits, the response cache, Yoga with its plugins, our executor behind Yoga's hook. Answers that are the same for every caller are cached as bytes for a minute; identical
requests in flight share one execution. The proteins of a query are loaded as one list, and the archive of the bulk call is read while it arrives. [ARCHITECTURE.md](../ARCHITECTURE.md) lists every mechanism that is not ordinary for a gateway.

Targets that only deleted machinery met are gone: 0.75 of a bare server and 8 times a bare Yoga on a hit were reached by answering from the raw socket, before HTTP was read; 160 MB for 500 structures by steering the garbage collector and holding unpacked texts outside the heap.

Tried and left out:

- Compiled execution (graphql-jit 0.8.9) took 10.6 ms where graphql-js took 14.8 ms, for 100 loaded proteins. It loses a field that is selected twice when the first is skipped,
  shortens a list whose last item failed, refuses variables with defaults that need them and does not enforce \`@oneOf\`: its answers cannot be told wrong before they are given.
- WebAssembly by hand, for escaping and for finding the ends of values: 7 ms less for 15 MB of structures, 0.3 ms less for a list of 100.
- An inflater that is used again, which leans on internals of zlib, and unpacked texts that are held for the writer.
- Steering V8 at run time (calls of the collector, sizes of the young generation by flags): it took 20 to 50 MB off the peak of structures and nothing off the cost of an answer.
- Compiling sooner (\`--interrupt-budget=8000\`, which V8 knows up to Node 20) takes a quarter off a query of two things 20 ms away, at 160 answers a second, and nothing off a busy process.
- One bundled file would start in half the CPU time; the package is compiled by \`tsc\` alone, so that what runs is what one reads.`;

const cores = ({ cores: count, pinned }: Machine): string =>
  pinned
    ? `${count} cores: one for the contestant, one for load generator and stand-in together, except where a table says otherwise`
    : `${count} cores, shared by all`;

function head(machine: Machine): string {
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  return `# Performance

What FoldAtlas costs beside what you could use instead: a REST client of your own, Apollo Server, Mercurius, Yoga. Written by \`npm run bench -- --write\`.

| | |
|---|---|
| Date | ${machine.date} |
| Machine | ${machine.cpu}, ${machine.memoryGB} GB, ${machine.system} |
| Cores | ${cores(machine)} |
| Node | ${machine.node} |
| FoldAtlas | ${machine.foldatlas} |
| Peers | ${packages.join(', ')} |

## How it is measured

${METHOD}

## How it comes about

${REASONS}
`;
}

/** The lines of the plot out of the table of growth. */
export function growthLines(results: readonly ScenarioResult[]): Line[] {
  const table = results.find(({ name }) => name === 'growth')?.tables[0];
  return (table?.rows ?? []).map(({ who, values }) => ({
    name: who,
    points: Object.entries(values).flatMap(([key, y]) =>
      y === null ? [] : [{ x: Number(key.slice(1)), y }],
    ),
  }));
}

/** The whole page. */
export function document(machine: Machine, results: readonly ScenarioResult[]): string {
  const targets = results.flatMap((result) => result.targets);
  const met = targets.filter(isMet).length;
  const parts = results.flatMap((result) => [
    ...result.tables.map(markdownTable),
    ...(result.name === 'growth' ? [`![CPU time by the number of proteins](${PLOT_FILE})`] : []),
    ...(result.missing ?? []),
  ]);
  return [
    head(machine),
    `## Targets\n\n${met} of ${targets.length} are met.\n`,
    `${markdownTargets(targets)}\n`,
    '## Measurements\n',
    `${parts.join('\n\n')}\n`,
  ].join('\n');
}
