// The load that one replica carries, and how many one Redis or Valkey serves: commands of the store
// and its CPU time for each kind of request, measured; the rest is division.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { operationBytes } from '../load/connection.ts';
import { load } from '../load/load.ts';
import { startContestant } from '../processes/contestants.ts';
import type { ScenarioResult } from '../report/result.ts';
import { type Bench, setStub } from './bench.ts';
import { LIST, ONE, TINY } from './expected.ts';
import { AUTH, submit } from './gateway.ts';
import { warmUp } from './measure.ts';

const TASKS =
  'query Tasks($id: ID!) { batch(batchId: $id) { counts { done } tasks(first: 100) { nodes { taskId name status } } } }';
const SUBMIT =
  'mutation Submit($input: SubmitFoldInput!) { submitFold(input: $input) { __typename ... on Problem { message } } }';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A Redis of its own that writes nothing; undefined where there is no redis-server. */
async function openRedis(folder: string): Promise<{ port: number; process: ChildProcess } | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const redis = spawn('redis-server', settings, { stdio: 'ignore' });
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await info(port).catch(() => undefined)) !== undefined) return { port, process: redis };
    await sleep(50);
  }
  redis.kill();
  return undefined;
}

/**
 * Commands that a Redis has carried out so far, and the CPU time that it has used, in milliseconds.
 */
async function info(port: number): Promise<{ commands: number; cpu: number }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end('INFO everything\r\nQUIT\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const read = (name: string): number => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1]);
  const commands = read('total_commands_processed');
  if (Number.isNaN(commands)) throw new Error('Redis is not ready.');
  return { commands, cpu: 1000 * (read('used_cpu_user') + read('used_cpu_sys')) };
}

export async function scale(bench: Bench): Promise<ScenarioResult> {
  const redis = await openRedis(bench.start.folder);
  if (redis === undefined)
    return {
      name: 'scale',
      tables: [],
      targets: [],
      missing: ['Scale was not measured: there is no redis-server here.'],
    };
  const seconds = bench.quick ? 0.3 : 2;
  try {
    await setStub(bench, { latency: 0, done: true });
    const child = await startContestant('foldatlas', bench.start, 'over Redis', {
      STORE_URL: `redis://127.0.0.1:${redis.port}`,
      GATEWAY_SECRET: 'a secret of the bench, long enough for it',
    });
    const id = await submit(child, 100);
    let n = 0;
    const hot = operationBytes(TINY);
    const kinds = {
      'a response that is cached': () => hot,
      'one new protein with cluster and features': () => operationBytes(ONE, { hash: bench.fresh(1)[0] }),
      '100 new proteins': () => operationBytes(LIST, { hashes: bench.fresh(100) }),
      'a page of 100 tasks': () => operationBytes(TASKS, { id }, AUTH),
      submitFold: () => {
        n += 1;
        const items = [{ chains: [{ protein: { sequence: 'GIVEQCCTSICSLYQLENYCN' } }] }];
        const input = { items, label: `bench ${n}`, idempotencyKey: `scale ${n}` };
        return operationBytes(SUBMIT, { input }, AUTH);
      },
    };
    const rows = [];
    for (const [who, next] of Object.entries(kinds)) {
      bench.progress(who);
      const run = { url: child.url, connections: 4, next, search: true };
      await warmUp(bench, { ...run, who: [child] });
      const before = { ...(await info(redis.port)), child: (await child.read()).cpu };
      const { answers } = await load({ ...run, seconds });
      const after = { ...(await info(redis.port)), child: (await child.read()).cpu };
      const cpu = (after.child - before.child) / answers;
      // The reading itself is one command.
      const commands = Math.max(0, after.commands - before.commands - 1) / answers;
      const store = (after.cpu - before.cpu) / answers;
      rows.push({
        who,
        values: {
          cpu,
          carried: 1000 / cpu,
          commands,
          store: 1000 * store,
          replicas: store > 0 && commands > 0.01 ? cpu / store : null,
        },
      });
    }
    await child.stop();
    return {
      name: 'scale',
      tables: [
        {
          title: 'Replicas over one Redis',
          note: 'One replica with one core, 4 connections. The last column is how many such replicas at full load take all of the one core that Redis uses: beyond it the store is the bottleneck. Commands inside scripts count. Commands for a request do not depend on the number of replicas (test/system/replicas/three.test.ts); pollers do not either, because replicas share each poll of a batch.',
          columns: [
            { key: 'cpu', title: 'CPU ms/answer', digits: 3 },
            { key: 'carried', title: 'answers/s of one core', digits: 0 },
            { key: 'commands', title: 'store commands', digits: 2 },
            { key: 'store', title: 'store CPU µs', digits: 0 },
            { key: 'replicas', title: 'replicas for one store', digits: 0 },
          ],
          rows,
        },
      ],
      targets: [],
    };
  } finally {
    redis.process.kill();
  }
}
