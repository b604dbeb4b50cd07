// Small questions that nobody has asked before: other variables each time, so that no cache helps anybody.
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import { type ContestantName, startContestant } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { accessionFor } from '../world/facts.ts';
import { type Bench, compareAnswer } from './bench.ts';
import { openExpected, SMALL, UNLIKE } from './expected.ts';
import { LOAD_COLUMNS, measure, ofWho, ratioTo, rowsOf } from './measure.ts';

const PEERS: readonly ContestantName[] = ['mercurius', 'apollo', 'yoga'];
const CONNECTIONS = 16;
/** Of the service, milliseconds, and how much an answer may take beyond it. */
const LATENCY = 20;
const BEYOND = 30;

/** One protein that was never seen: one call of the service. */
export async function coldSmall(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  const who = [];
  for (const name of bench.rivals(PEERS)) {
    const child = await bench.child(name);
    const [hash = ''] = bench.fresh(1);
    await compareAnswer(child, operationBytes(SMALL, { hash }), expected.small(hash));
    who.push(child);
  }
  const next = () => operationBytes(SMALL, { hash: bench.fresh(1)[0] });
  const measured = await measure(bench, { who, connections: CONNECTIONS, next, search: true });
  const against = (text: string, name: string, least: number) => ({
    text: `Small cold query, answers per core against ${text}`,
    measured: ratioTo(measured, name),
    unit: '×',
    bound: { least },
  });
  return {
    name: 'cold small',
    tables: [
      {
        title: 'Cold, small: hash, length and sequence of a protein never seen',
        note: `Another protein in every query, ${CONNECTIONS} connections, no delay of the service.`,
        columns: LOAD_COLUMNS,
        rows: rowsOf(measured),
      },
    ],
    targets: [against('Apollo Server', 'apollo', 1), against('bare Yoga', 'yoga', 1.5)],
  };
}

/** The same with texts that have never run beside one that runs again and again: parsing, validation and planning. */
export async function coldText(bench: Bench): Promise<ScenarioResult> {
  const again = await startContestant('foldatlas', bench.start, 'the same text');
  const anew = await startContestant('foldatlas', bench.start, 'a new text each time');
  let n = 0;
  const text = (child: Child): string => {
    n += 1;
    return child === anew ? SMALL.replace('Small', `Small${n}`) : SMALL;
  };
  const measured = await measure(bench, {
    who: [again, anew],
    connections: 4,
    next: (child) => operationBytes(text(child), { hash: bench.fresh(1)[0] }),
    search: true,
    rounds: 3,
  });
  await Promise.all([again.stop(), anew.stop()]);
  return {
    name: 'cold text',
    tables: [
      {
        title: 'Cold, small: texts of queries that have never run',
        note: 'FoldAtlas; another protein in every query, 4 connections. The documents of the second row differ in the name of their operation.',
        columns: LOAD_COLUMNS.filter(({ key }) => key !== 'ratio'),
        rows: rowsOf(measured),
      },
    ],
    targets: [
      {
        text: 'First query of a text, CPU time against its second',
        measured: ofWho(measured, anew.name).cpu / ofWho(measured, again.name).cpu,
        unit: '×',
        bound: { most: 1.3 },
      },
    ],
  };
}

/** Two things at once of a service that takes its time: calls must not wait for each other. */
export async function coldUnlike(bench: Bench): Promise<ScenarioResult> {
  const expected = openExpected(bench);
  let n = 0;
  const variables = () => {
    n += 1;
    return { hash: bench.fresh(1)[0] ?? '', id: accessionFor(n) };
  };
  const who = [];
  for (const name of bench.rivals(['mercurius'])) {
    const child = await bench.child(name);
    const asked = variables();
    await compareAnswer(child, operationBytes(UNLIKE, asked), expected.unlike(asked.hash, asked.id));
    who.push(child);
  }
  const measured = await measure(bench, {
    who,
    connections: 4,
    next: () => operationBytes(UNLIKE, variables()),
    search: true,
    latency: LATENCY,
    rounds: 3,
  });
  return {
    name: 'cold unlike',
    tables: [
      {
        title: `Cold, two things at once, ${LATENCY} ms away`,
        note: `A protein with its features and an entry of the knowledge base, others in every query; 4 connections, each call of the service takes ${LATENCY} ms.`,
        columns: LOAD_COLUMNS,
        rows: rowsOf(measured),
      },
    ],
    targets: [
      {
        text: `Cold query of two things, ${LATENCY} ms away: p50 (two calls, at the same time)`,
        measured: ofWho(measured, 'foldatlas').p50,
        unit: 'ms',
        bound: { most: LATENCY + BEYOND },
      },
      {
        text: 'The same: calls of the service for an answer',
        measured: ofWho(measured, 'foldatlas').calls,
        unit: 'calls',
        bound: { most: 2 },
      },
    ],
  };
}
