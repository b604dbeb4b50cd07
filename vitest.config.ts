import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

const require = createRequire(import.meta.url);

/** Files that take longest: a run that begins with them does not end with one of them alone. */
const LONGEST = [
  'story/users',
  'story/hostile',
  'cli/bin',
  'fuzz/fuzz',
  'replicas/three',
  'doctor/consequences',
  'subscriptions/faults',
  'browser/frontend',
  'reads/cost',
  'browser/live',
  'doctor/drifts',
  'upstream/hostile',
  'bulk/bulk-lookup',
  'untrusted-text/patterns',
  'operations/processes',
  'browser/guides',
  'untrusted-text/texts',
  'story/secret',
  'atlas/cache',
  'folding/ranking',
].map((name) => `/test/${name}.test.ts`);

type Files = Parameters<BaseSequencer['sort']>[0];

/** Vitest's own order is by duration, but on a clean checkout it knows only sizes. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Files): Promise<Files> {
    const place = ({ moduleId }: Files[number]) => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  resolve: {
    // A code-first schema under vitest would otherwise load two copies of graphql (ESM and CJS).
    alias: [
      { find: /^graphql$/, replacement: require.resolve('graphql').replace(/index\.mjs$/, 'index.js') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Half of what a test does is waiting: with four files at a time two cores have something to do.
    maxWorkers: availableParallelism() * 2,
    sequence: { sequencer: LongestFirst },
    // The files of a worker share their modules: loading the gateway anew for each of them costs more than many of them do.
    isolate: false,
    // What was compiled for one run is there for the next: CI's second one, and each of a developer's.
    experimental: { fsModuleCache: true },
    // A worker makes much garbage: with more room for new objects it is collected less often.
    // One test counts what survives collections that it asks for.
    execArgv: ['--max-semi-space-size=64', '--expose-gc'],
    // Tests of leases, reconnecting and killed processes wait for real time, and the machines of CI are shared: a defect fails
    // every time, a starved moment does not. On a developer's machine nothing is tried again.
    retry: process.env.CI ? 2 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
