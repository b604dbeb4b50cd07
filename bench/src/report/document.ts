// Writes docs/performance.md from results: what was measured, on what and how, every target met or
// missed, every table. Pure.
import type { Machine } from './machine.ts';
import { isMet, type Report } from './result.ts';
import { markdownTable, markdownTargets } from './table.ts';

const METHOD = `- Every contestant is a process of its own with \`NODE_ENV=production\`, asked alone. It is warmed up with 5,000 answers, or 12 seconds of CPU time where answers take longer; a table says where
  new processes are measured. Then contestants take turns in rounds; numbers are medians over the rounds.
- Before that, the answers of each are compared with the expected data, value by value. One wrong answer fails the run.
- FoldAtlas is started as \`npm start\` does, with all limits, the request log and the metrics on. The settings for requests a minute, the cost of a query and the number of subscriptions are raised. The
  peers have no limits, log or metrics. [bench/README.md](../bench/README.md) says how each is set up.
- The service is a stand-in with the sizes of the real one: records of 40 KB, structures of 30 KB, a catalogue of 16,384 features. It answers at once unless a table names a delay.
- Targets of CPU time are measured in pairs of new processes, loaded in turns; a ratio has its 99 percent interval behind it.
- "CPU ms/answer" is the CPU time of all threads of the process. "CPU × FoldAtlas" is this contestant's divided by FoldAtlas': above 1 FoldAtlas is cheaper.
- "Upstream calls" are calls of the service for one answer, counted by the stand-in. "Peak MB" is the most memory in use during the rounds.

\`npm run bench\` measures again on your machine in about twenty minutes; \`npm run bench -- --write\` also writes this page.`;

const REASONS = `- A query that was answered within the last minute, with an answer that is the same for every caller, is answered from memory.
- A new query passes the limits, Yoga and its plugins, which the peers do not have.
- The proteins of a query are loaded with one bulk call for each 500.
- FoldAtlas does not compile queries with graphql-jit, as the peers "with JIT" do. That takes 10 to 20 percent less CPU time for lists and hardly less for one protein, but it compiles JavaScript out of what clients send, and its errors differ from those of the GraphQL executor.
- A new process is slow: V8 compiles a function after it has run thousands of times. Everybody is measured warm.

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

/** The whole page. @throws RangeError for a quick run, whose numbers say nothing */
export function document({ machine, results, quick }: Report): string {
  if (quick) throw new RangeError('The numbers of a quick run are no page.');
  const targets = results.flatMap((result) => result.targets);
  const met = targets.filter(isMet).length;
  const parts = results.flatMap((result) => [...result.tables.map(markdownTable), ...(result.missing ?? [])]);
  return [
    head(machine),
    `## Targets\n\n${met} of ${targets.length} are met. The others are here too.\n`,
    `${markdownTargets(targets)}\n`,
    '## Measurements\n',
    `${parts.join('\n\n')}\n`,
  ].join('\n');
}
