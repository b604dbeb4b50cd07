import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longer than half a minute: started last, each would end alone. */
const LONG_FILES =
  /test\/(simulation|oracle\/history|system\/(clients\/python|cli\/workflows|story\/(users|designer|hostile)|replicas\/three|browser\/frontend))/;

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG_FILES.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const require = createRequire(import.meta.url);

export default defineConfig({
  resolve: {
    // A code-first schema under vitest would otherwise load two copies of graphql (ESM and CJS).
    alias: [
      { find: /^graphql$/, replacement: require.resolve('graphql').replace(/index\.mjs$/, 'index.js') },
    ],
  },
  test: {
    // `gateway` is what `npm test` runs. `system` starts processes, browsers, replicas and foreign
    // programs.
    projects: [
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**', 'test/shipped/**'],
        },
      },
      { extends: true, test: { name: 'system', include: ['test/system/**/*.test.ts'] } },
      // The packages as strangers install them, on each Node that they are for.
      { extends: true, test: { name: 'shipped', include: ['test/shipped/**/*.test.ts'] } },
      { extends: true, test: { name: 'sandbox', include: ['sandbox/test/**/*.test.ts'] } },
    ],
    sequence: { sequencer: LongFilesFirst },
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // Much of what a test does is waiting: on two cores three files at a time take 6 minutes, two
    // take 8.
    maxWorkers: availableParallelism() + 1,
    // Modules that an earlier run has transformed: a run of one file takes a third less CPU time.
    experimental: { fsModuleCache: true },
    // The files of a worker share their modules: loading the gateway anew for each of them costs
    // more than many of them do.
    isolate: false,
    // A worker makes much garbage: with more room it is collected less often (a tenth less CPU
    // time), and by one thread instead of five that wait for each other (7 % less, and 6 % sooner,
    // on two cores). One test counts what survives collections that it asks for.
    execArgv: [
      '--max-semi-space-size=64',
      '--no-allocation-site-pretenuring',
      '--heap-growing-percent=300',
      '--single-threaded-gc',
      '--expose-gc',
    ],
    // Tests of leases, reconnecting and killed processes wait for real time, and the machines of CI
    // are shared: a defect fails every time, a starved moment does not. On a developer's machine
    // nothing is tried again.
    retry: process.env.CI ? 2 : 0,
    // These limits end what hangs, and nothing else: beside other work, all takes several times as
    // long.
    testTimeout: 240_000,
    hookTimeout: 480_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
