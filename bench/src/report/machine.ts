// Describes what a run was measured on: the machine, the Node that ran it, the versions of
// everybody. It measures nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly system: string;
  readonly node: string;
  /** The version of the project and its commit, with a mark when files differ from it. */
  readonly foldatlas: string;
  /** Versions of what the peers are made of. */
  readonly packages: Readonly<Record<string, string>>;
  /** Whether every process had a core of its own. */
  readonly pinned: boolean;
}

function commit(root: string): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: root,
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown commit';
  }
}

const packageAt = (folder: string): { version?: string; dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ReturnType<typeof packageAt>;

/** @param root - the project's folder */
export function readMachine(root: string, pinned: boolean): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    foldatlas: `${packageAt(root).version ?? '?'} (${commit(root)})`,
    packages: packageAt(join(root, 'bench')).dependencies ?? {},
    pinned,
  };
}
