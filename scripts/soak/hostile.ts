// Runs every attack against built gateways with a small heap, one after the other, and measures
// what each costs: memory at its peak above idle, the slowest /health meanwhile, descriptors that
// do not come back.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSandboxThread } from '../../sandbox/src/sandbox.ts';
import { type ServerProcess, startServer } from '../../test/system/server-process.ts';
import { ATTACKS, type Attack, type Target } from './attacks.ts';
import { startHostileService } from './hostile-service.ts';
import { descriptors, forgetPeak, peakBytes, residentBytes } from './process.ts';
import { METRICS_TOKEN, takeSample } from './sample.ts';
import { post } from './send.ts';

export interface Finding {
  readonly attack: string;
  /** Bytes above what the process held when it was idle. */
  readonly peak: number;
  /** Milliseconds of the slowest answer of /health; endless when one failed. */
  readonly health: number;
  /** The same without the time in which the gateway waited for a core. */
  readonly ownHealth: number;
  /** Milliseconds by which the event loop was late at most. */
  readonly late: number;
  /** Descriptors that did not come back. */
  readonly lost: number;
  readonly alive: boolean;
  /** Describes the wrong answer. */
  readonly wrong: string | undefined;
}

const HEAP_MB = 400;
const KEY = 'the-right-key-of-a-caller-0123456789';
/** How long descriptors may take to come back: kept connections to the service among them. */
const SETTLE_MS = 15_000;
/**
 * Connections to the service that are kept for the next call: UPSTREAM_MAX_IN_FLIGHT at most.
 * Attacks open more than that.
 */
const KEPT_DESCRIPTORS = 64;

/**
 * Starts the program that watches /health: one for all attacks, because starting it costs more than
 * it does.
 */
function openHealthWatcher() {
  const program = fileURLToPath(new URL('health-watcher.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (line: string): Promise<string> => {
    child.stdin.write(`${line}\n`);
    const answer = await answers.next();
    if (answer.done === true) throw new Error('The program that watches /health has ended.');
    return answer.value;
  };
  return {
    begin: (url: string, pid: number) => tell(`${url} ${pid}`),
    /** @returns milliseconds of the slowest answer: all of it, and its own part */
    end: async () => (await tell('end')).split(' ').map(Number),
    close: () => child.stdin.end(),
  };
}

interface Running {
  readonly server: ServerProcess;
  readonly pid: number;
  readonly idle: number;
  readonly files: number;
}

const isAlive = ({ server }: Running): boolean =>
  server.child.exitCode === null && server.child.signalCode === null;

async function settled({ pid, files }: Running): Promise<number> {
  for (const end = Date.now() + SETTLE_MS; ; await sleep(250)) {
    const lost = Math.max(0, descriptors(pid) - files - KEPT_DESCRIPTORS);
    if (lost === 0 || Date.now() > end) return lost;
  }
}

/**
 * Runs the attacks.
 *
 * @param isShort - smaller ones, for a test of a few seconds
 * @param onFinding - told after each
 */
export async function runAttacks(
  attacks: readonly Attack[],
  isShort: boolean,
  onFinding: (finding: Finding) => void = () => undefined,
): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'foldatlas-hostile-'));
  const [sandbox, service] = await Promise.all([
    startSandboxThread({ size: 'small', speed: 20 }),
    startHostileService(isShort ? 200e6 : 3e9),
  ]);
  const settings: Readonly<Record<Target, Record<string, string>>> = {
    open: { UPSTREAM_URL: sandbox.url },
    keyed: { UPSTREAM_URL: sandbox.url, UPSTREAM_API_KEY: 'held', GATEWAY_API_KEYS: `caller ${KEY}` },
    hostile: { UPSTREAM_URL: service.url },
  };
  const running = new Map<Target, Running>();
  async function open(target: Target): Promise<Running> {
    const found = running.get(target);
    if (found !== undefined) return found;
    const server = await startServer({
      STORE_URL: `sqlite:${join(folder, `${target}.db`)}`,
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      LOG_LEVEL: 'error',
      METRICS_TOKEN,
      // As operators have it; other tests switch it off.
      MAX_CONCURRENT_REQUESTS: '500',
      ...settings[target],
    });
    const pid = server.child.pid ?? 0;
    // The first query loads and compiles what all of them need.
    await post(server.url, { query: '{ limits { maxTasks } }' }, { token: KEY });
    await sleep(1_500);
    const opened = { server, pid, idle: residentBytes(pid), files: descriptors(pid) };
    running.set(target, opened);
    return opened;
  }

  const watcher = openHealthWatcher();
  const findings: Finding[] = [];
  for (const attack of attacks) {
    const place = await open(attack.target);
    const { pid, idle, server } = place;
    // The event loop's delay is measured since the last sample.
    await takeSample(server, 0);
    forgetPeak(pid);
    await watcher.begin(server.url, pid);
    const wrong = await attack.run({ url: server.url, key: KEY, answer: service.answer, isShort });
    // Work that goes on after the answer would show now.
    await sleep(isShort ? 500 : 2_000);
    const [health = Infinity, ownHealth = Infinity] = await watcher.end();
    const alive = isAlive(place);
    const late = alive ? (await takeSample(server, 0)).longest * 1000 : Infinity;
    const finding: Finding = {
      attack: attack.name,
      peak: alive ? peakBytes(pid) - idle : Infinity,
      health,
      ownHealth,
      late,
      lost: alive ? await settled(place) : 0,
      alive,
      wrong,
    };
    findings.push(finding);
    onFinding(finding);
    if (!alive) running.delete(attack.target);
  }
  watcher.close();
  for (const { server } of running.values()) {
    const code = await server.end('SIGTERM');
    if (code !== 0)
      findings.push({
        attack: 'SIGTERM',
        peak: 0,
        health: 0,
        ownHealth: 0,
        late: 0,
        lost: 0,
        alive: false,
        wrong: `code ${code}`,
      });
  }
  await Promise.all([service.close(), sandbox.close()]);
  rmSync(folder, { recursive: true, force: true });
  return findings;
}

/** The limits on the cost of an attack. */
export interface Bounds {
  readonly peak: number;
  readonly health: number;
  /** The same, without the time in which the gateway waited for a core. */
  readonly ownHealth: number;
}

/** The manifests allow 768 MiB for a container, and probes wait 5 s. */
const GOAL: Bounds = { peak: 500e6, health: 5_000, ownHealth: 2_000 };

/** Lists the problems of a finding; empty if there are none. */
export const findProblems = (finding: Finding, bounds: Bounds): string[] => [
  ...(finding.alive ? [] : ['the process is gone']),
  ...(finding.wrong === undefined ? [] : [finding.wrong]),
  ...(finding.lost > 0 ? [`${finding.lost} descriptors did not come back`] : []),
  ...(finding.peak > bounds.peak ? [`${(finding.peak / 1e6).toFixed(0)} MB above idle`] : []),
  ...(finding.ownHealth > bounds.ownHealth
    ? [`/health took ${finding.ownHealth.toFixed(0)} ms beside waiting for a core`]
    : []),
  ...(finding.health > bounds.health ? [`/health took ${finding.health.toFixed(0)} ms`] : []),
];

/** Runs all of them and prints a table. @returns whether every one keeps to the goal */
export async function runHostile(only: string | undefined): Promise<boolean> {
  const attacks = ATTACKS.filter(({ name }) => only === undefined || name.startsWith(only));
  process.stdout.write(
    `load ${loadavg()[0]?.toFixed(1)}\n\n| Attack | MB above idle | slowest /health, ms | of it not for want of a core | event loop late, ms | |\n|---|---|---|---|---|---|\n`,
  );
  const findings = await runAttacks(attacks, false, (finding) => {
    const { attack, peak, health, ownHealth, late } = finding;
    const cells = [peak / 1e6, health, ownHealth, late].map((cell) => cell.toFixed(0));
    const problems = findProblems(finding, GOAL).join('; ');
    process.stdout.write(`| ${attack} | ${cells.join(' | ')} | ${problems} |\n`);
  });
  process.stdout.write(`\nload ${loadavg()[0]?.toFixed(1)}\n`);
  return findings.every((finding) => findProblems(finding, GOAL).length === 0);
}
