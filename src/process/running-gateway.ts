// A listening gateway writes its local address beside its SQLite ledger, so that commands started
// in the same folder ask it instead of opening the same files and sandbox a second time.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { sqliteFileOf } from '../store/sqlite-file.ts';

const running = z.object({
  pid: z.number().int().positive(),
  /** Its address on this machine, without a final slash. */
  url: z.url({ protocol: /^http$/ }),
  sandbox: z.boolean(),
  /** UPSTREAM_URL; null over the sandbox. */
  upstreamUrl: z.string().nullable(),
});

export type RunningGateway = z.output<typeof running>;

/** Settings that say where the file is and which upstream is meant. */
interface RunningSettings {
  readonly LEDGER_URL: string;
  readonly UPSTREAM_URL?: string | undefined;
}

const HEALTH_MS = 2_000;

/** undefined for a ledger in memory or on another machine. */
function fileOf({ LEDGER_URL }: RunningSettings): string | undefined {
  const path = sqliteFileOf(LEDGER_URL);
  return path === undefined ? undefined : `${path}.running`;
}

function readRunning(file: string): RunningGateway | undefined {
  try {
    return running.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Writes the file, and removes it when the process ends. A folder that is read-only has none. */
export function announceGateway(settings: RunningSettings, url: string): void {
  const file = fileOf(settings);
  if (file === undefined) return;
  const { UPSTREAM_URL: upstreamUrl = null } = settings;
  const own: RunningGateway = { pid: process.pid, url, sandbox: upstreamUrl === null, upstreamUrl };
  try {
    writeFileSync(file, JSON.stringify(own), { mode: 0o600 });
  } catch {
    return;
  }
  process.once('exit', () => {
    if (readRunning(file)?.pid === process.pid) rmSync(file, { force: true });
  });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/**
 * The gateway that runs over the same ledger and answers; undefined without one, or when
 * UPSTREAM_URL is set to another service than its own.
 */
export async function findRunningGateway(settings: RunningSettings): Promise<RunningGateway | undefined> {
  const file = fileOf(settings);
  const found = file === undefined ? undefined : readRunning(file);
  if (found === undefined || !isAlive(found.pid)) return undefined;
  if (settings.UPSTREAM_URL !== undefined && settings.UPSTREAM_URL !== found.upstreamUrl) return undefined;
  const health = await fetch(`${found.url}/health`, { signal: AbortSignal.timeout(HEALTH_MS) }).catch(
    () => undefined,
  );
  return health?.ok === true ? found : undefined;
}
