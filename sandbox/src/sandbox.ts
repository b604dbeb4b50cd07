// How the sandbox is started, in this thread or in one of its own, and with what. Loads nothing of
// the sandbox until it is started, because an embedder that starts a thread needs none of it in its
// own.
import type { SeenRequest } from './app.ts';
import type { Clock } from './clock.ts';
import type { ResultForm } from './folding/rows.ts';
import type { Limits } from './limits.ts';
import { startThread } from './thread.ts';
import type { Dialect } from './wire/conventions.ts';
import type { WireOptions } from './wire/settings.ts';

/**
 * Reads the SANDBOX_* variables of an environment to options, or to the problems, one line each.
 */
export const readOptions = async (env: Readonly<Record<string, string>>) =>
  (await import('./environment.ts')).readEnvironment(env);

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /**
   * Where clients reach it, when that is not where it listens (a container, a proxy); signed URLs
   * point there.
   */
  publicUrl?: string;
  /**
   * Where batches, results and the universe are kept; absent or 'memory': nothing on disk, nothing
   * survives.
   */
  dataDir?: string;
  /** The seed of the universe: the same seed gives the same proteins, features and clusters. */
  seed?: number;
  /**
   * 'small': the reference proteins and about 400 homologs under the same rules, for quick tests.
   */
  size?: 'full' | 'small';
  /** A ManualClock makes every answer depend on the clock alone. */
  clock?: Clock;
  /** The tokens that are keys; absent: every token is one. */
  apiKeys?: readonly string[];
  /** Whether the routes under /control exist. */
  control?: boolean;
  /**
   * The conventions of our own that its answers follow beyond the contract. Default plain: none of
   * them.
   */
  dialect?: Dialect;
  /** Names and forms that the contract leaves to a deployment. */
  wire?: WireOptions;
  /** A FASTA file with the user's own proteins, added to the universe. */
  fasta?: string;
  /**
   * How folding results are written: rows by token or by atom, entities by kind or as polymer and
   * non-polymer.
   */
  resultForm?: Partial<ResultForm>;
  /** Divides the durations of tasks. Default 1. */
  speed?: number;
  /** Numbers of the Batch side that differ from `limits.ts`, for tests. */
  limits?: Partial<Limits>;
  /** Told of every request to a known operation, before it is answered. */
  onRequest?: (request: SeenRequest) => void;
  /** Told what takes time at the start, a line each. */
  onProgress?: (line: string) => void;
}

export interface Sandbox {
  /** Base URL without a slash at its end. */
  readonly url: string;
  readonly clock: Clock;
  close(): Promise<void>;
}

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
