// Processes that tests start: none outlives the file that started it, also where a test failed
// before it could end it.
import type { ChildProcess } from 'node:child_process';

const started = new Set<() => void>();

/**
 * Marks a process to be ended with the test file. @param isGroup - with all that it starts; it was
 * spawned detached
 */
export function endWithFile<T extends ChildProcess>(child: T, isGroup = false): T {
  const end = () => {
    try {
      if (isGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      else child.kill('SIGKILL');
    } catch {
      // It has ended.
    }
  };
  started.add(end);
  if (!isGroup) child.once('exit', () => started.delete(end));
  return child;
}

/** Ends what is still there; test/setup.ts calls it behind each file. */
export function endProcesses(): void {
  for (const end of started) end();
  started.clear();
}
