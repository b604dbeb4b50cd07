// All that is fuzzed, by name. fast-check makes the input from a seed, so that the same seed tries
// the same again.
import fc from 'fast-check';
import { oracleProperty } from '../oracle/property.ts';
import type { Target } from './target.ts';
import { archives } from './targets/archives.ts';
import { documents } from './targets/documents.ts';
import { files } from './targets/files.ts';
import { folds } from './targets/folds.ts';
import { http } from './targets/http.ts';
import { upstream } from './targets/upstream.ts';
import type { FuzzWorld } from './world.ts';

export const TARGETS: Readonly<Record<string, Target>> = {
  http,
  files,
  documents,
  archives,
  upstream,
  folds,
  oracle: ({ oracle }) => oracleProperty(oracle),
};

/**
 * Tries a target with what a seed makes.
 *
 * @returns undefined when it held; else what broke it, shrunk, and how
 */
export async function tryTarget(
  world: FuzzWorld,
  name: string,
  seed: number,
  runs: number,
): Promise<string | undefined> {
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`There is no target ${name}; there are ${Object.keys(TARGETS).join(', ')}.`);
  const details = await fc.check(target(world), { seed, numRuns: runs, endOnFailure: false });
  world.proxy.change(undefined);
  if (!details.failed) return undefined;
  const error = details.errorInstance;
  return `${name} seed ${seed}: ${fc.stringify(details.counterexample)}\n${error instanceof Error ? error.stack : String(error)}`;
}
