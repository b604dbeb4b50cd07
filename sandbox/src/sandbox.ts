// How the sandbox is started, in this thread or in one of its own, and with what. Loads nothing of
// the sandbox until it is started, because an embedder that starts a thread needs none of it in its
// own.
import type { Sandbox, SandboxOptions } from './options.ts';
import { startThread } from './thread.ts';

export type { Sandbox, SandboxOptions } from './options.ts';

/**
 * Reads the SANDBOX_* variables of an environment to options, or to the problems, one line each.
 */
export const readOptions = async (env: Readonly<Record<string, string>>) =>
  (await import('./environment.ts')).readEnvironment(env);

/**
 * Starts a sandbox in this thread and resolves once it listens.
 *
 * @throws Error when the port is taken or the data folder belongs to another running sandbox
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { assembleSandbox } = await import('./assemble.ts');
  return assembleSandbox(options);
}

/** The options that can be handed to a thread: no clock (it has the machine's) and no observer. */
export type ThreadOptions = Omit<SandboxOptions, 'clock' | 'onRequest' | 'onProgress'>;

export type ThreadMessage = { progress: string } | { url: string } | { failure: string; name: string };

/**
 * Room for new objects: as many as the thread's own default would be 15 to 25 MB that starting and
 * growing never give back.
 */
const YOUNG_MB = 8;

/**
 * Starts a sandbox in a worker thread and resolves once it listens.
 *
 * @throws Error when it cannot start, with its reason and the name of the error in the thread
 */
export async function startSandboxThread({
  onProgress,
  ...options
}: ThreadOptions & Pick<SandboxOptions, 'onProgress'> = {}): Promise<{
  url: string;
  close(): Promise<void>;
}> {
  const worker = startThread('./sandbox-thread', {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    worker.on('message', (message: ThreadMessage) => {
      if ('progress' in message) onProgress?.(message.progress);
      else if ('url' in message) resolve(message.url);
      else reject(Object.assign(new Error(message.failure), { name: message.name }));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the sandbox ended before it listened')));
  });
  return {
    url,
    async close() {
      worker.postMessage('close');
      await ended;
    },
  };
}
