// Writes docs/performance.md from results: what was measured, on what and how, every target met or missed, every table. Pure.
import type { Machine } from './machine.ts';
import type { Line } from './plot.ts';
import { isMet, type Report, type ScenarioResult } from './result.ts';
import { markdownTable, markdownTargets } from './table.ts';

/** The plot's name, beside the document. */
export const PLOT_FILE = 'performance-growth.svg';

const METHOD = `- Every contestant is a process of its own with \`NODE_ENV=production\`, asked alone. It is warmed up with 5,000 answers, or 12 seconds of CPU time where answers take longer; a table says where
  new processes are measured. Then contestants take turns in rounds; numbers are medians over the rounds.
- Before that, the answers of each are compared with the expected data, value by value. One wrong answer fails the run.
- FoldAtlas is started as \`npm start\` does, with all limits, the request log and the metrics on. The settings for requests a minute, the cost of a query and the number of subscriptions are raised. The
  peers have no limits, log or metrics. [bench/README.md](../bench/README.md) says how each is set up.
- The service is a stand-in with the sizes of the real one: records of 45 KB, structures of 30 and 300 KB, a catalogue of 16,384 features. It answers at once unless a table names a delay.
- "CPU ms/answer" is the CPU time of all threads of the process. "FoldAtlas is × per core" is how many answers FoldAtlas gives in the CPU time in which this contestant gives one: above 1 FoldAtlas is
  cheaper.
- "Upstream calls" are calls of the service for one answer, counted by the stand-in. "Peak MB" is the most memory in use during the rounds.

\`npm run bench\` measures again on your machine in about twenty minutes; \`npm run bench -- --write\` also writes this page.`;

const REASONS = `- A query that was answered within the last minute, with an answer that is the same for every caller, is answered from memory.
- A new query passes the limits, Yoga and its plugins, which the peers do not have.
- The proteins of a query are loaded with one bulk call for each 500, and the archive is read while it arrives: the first proteins are sent before the last have come.
- FoldAtlas does not compile queries with graphql-jit, as the peers "with JIT" do. That is faster, but it refuses a required variable that has a default value and does not enforce \`@oneOf\`.
- A new process is slow: V8 compiles a function after it has run thousands of times. A small query for a new protein takes 8.6 ms of CPU among the first hundred answers, 4 ms after 1,000, 2 ms after 3,000 and
  about 1.3 ms after 5,000; of Apollo Server 3.4, 1.2, 0.9 and 0.7 ms (Node 20, 2026-11-26).

[ARCHITECTURE.md](../ARCHITECTURE.md) lists the mechanisms that are not ordinary for a gateway, and what each brings.`;

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

## Where the time goes

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

/** The whole page. @throws RangeError for a quick run, whose numbers say nothing */
export function document({ machine, results, quick }: Report): string {
  if (quick) throw new RangeError('The numbers of a quick run are no page.');
  const targets = results.flatMap((result) => result.targets);
  const met = targets.filter(isMet).length;
  const parts = results.flatMap((result) => [
    ...result.tables.map(markdownTable),
    ...(result.name === 'growth' ? [`![CPU time by the number of proteins](${PLOT_FILE})`] : []),
    ...(result.missing ?? []),
  ]);
  return [
    head(machine),
    `## Targets\n\n${met} of ${targets.length} are met. The others are here too.\n`,
    `${markdownTargets(targets)}\n`,
    '## Measurements\n',
    `${parts.join('\n\n')}\n`,
  ].join('\n');
}
