// The options that a sandbox is started with, and the handle of one that runs.
import type { SeenRequest } from './app.ts';
import type { Clock } from './clock.ts';
import type { ResultForm } from './folding/rows.ts';
import type { Limits } from './limits.ts';
import type { Dialect } from './wire/conventions.ts';
import type { WireOptions } from './wire/settings.ts';

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
   * Where batches, results and the universe are kept; absent, 'memory' or 'memory:': nothing on
   * disk, nothing survives.
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
