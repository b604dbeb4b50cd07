#!/usr/bin/env node
// The sandbox by itself: `npm run sandbox`. Reads the SANDBOX_* environment, starts, says loudly what it is, and ends
// cleanly on a signal. It must not know anything that an option of startSandbox does not say.
import { ManualClock } from './clock.ts';
import { readEnvironment } from './environment.ts';
import { startSandbox } from './sandbox.ts';

const reading = readEnvironment(process.env);
if ('problems' in reading) {
  for (const problem of reading.problems) console.error(problem);
  // EX_CONFIG of sysexits.h, as the gateway says it: starting again will not help.
  process.exit(78);
}

const { manualClock, ...options } = reading.options;
const sandbox = await startSandbox({
  ...options,
  ...(manualClock ? { clock: new ManualClock(Date.now()) } : {}),
  onProgress: (line) => console.error(line),
}).catch((error: unknown) => {
  console.error(`The sandbox cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});

console.log(
  `*** SANDBOX at ${sandbox.url} *** a stand-in of the service: every fold is made-up geometry, NO PREDICTION ***`,
);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void sandbox.close().finally(() => process.exit(0));
  });
