// Many watchers of a few batches that stay under way.
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import { openWatchers } from '../load/watchers.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, setStub, stubCounts } from './bench.ts';
import { AUTH, metric, submit } from './gateway.ts';

const WATCH =
  'subscription Watch($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { total } } } }';

/**
 * 3,800 streams, nearly all connections that a process takes, on 50 batches that stay under way.
 */
export async function watchers(bench: Bench): Promise<ScenarioResult> {
  const [batches, streams, seconds] = bench.quick ? [10, 200, 1] : [50, 3800, 10];
  const child = await bench.child('foldatlas');
  await setStub(bench, { latency: 0, done: false });
  const ids: string[] = [];
  for (let n = 0; n < batches; n += 1) ids.push(await submit(child, 3));
  bench.progress(`${streams} watchers`);
  const requests = Array.from({ length: streams }, (_, n) =>
    operationBytes(WATCH, { id: ids[n % batches] }, { ...AUTH, accept: 'text/event-stream' }),
  );
  const emptyMemory = child.memory().now;
  const since = performance.now();
  const before = await child.read();
  const open = await openWatchers(child.url, requests);
  const opened = performance.now() - since;
  const openCpu = (await child.read()).cpu - before.cpu;
  await setStub(bench);
  const start = await child.read();
  await sleep(seconds * 1000);
  const end = await child.read();
  const counts = await stubCounts(bench);
  const [pollers, watched] = [
    await metric(child, 'foldatlas_pollers'),
    await metric(child, 'foldatlas_watchers'),
  ];
  const memory = child.memory().now;
  const bytes = open.bytes() / open.events();
  open.close();
  await setStub(bench, { done: true });
  return {
    name: 'watchers',
    tables: [
      {
        title: `${streams.toLocaleString('en-US')} watchers of ${batches} batches`,
        note: `Server-Sent Events, all opened at once; then ${seconds} s of watching.`,
        columns: [
          { key: 'watched', title: 'watchers', digits: 0 },
          { key: 'pollers', title: 'pollers', digits: 0 },
          { key: 'opened', title: 'all opened, ms', digits: 0 },
          { key: 'openCpu', title: 'CPU ms to open', digits: 0 },
          { key: 'lists', title: 'List calls a second', digits: 1 },
          { key: 'cpu', title: 'CPU ms a second', digits: 1 },
          { key: 'memory', title: 'memory MB', digits: 0 },
          { key: 'each', title: 'memory kB a watcher', digits: 1 },
          { key: 'bytes', title: 'bytes an event', digits: 0 },
        ],
        rows: [
          {
            who: 'FoldAtlas',
            values: {
              watched,
              pollers,
              opened,
              openCpu,
              lists: (counts.list ?? 0) / seconds,
              cpu: (end.cpu - start.cpu) / seconds,
              memory: memory / 1e6,
              each: (memory - emptyMemory) / 1e3 / streams,
              bytes,
            },
          },
        ],
      },
    ],
    targets: [
      {
        text: `${streams.toLocaleString('en-US')} watchers of ${batches} batches`,
        measured: pollers,
        unit: 'pollers',
        bound: { most: batches },
      },
    ],
  };
}
