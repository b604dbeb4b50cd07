#!/usr/bin/env node
// The sandbox by itself: `npm run sandbox`. Reads the SANDBOX_* environment, starts, says loudly
// what it is, and ends cleanly on a signal.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ManualClock } from './clock.ts';
import { readEnvironment } from './environment.ts';
import { startSandbox } from './sandbox.ts';

const HELP = `A stand-in of the protein service: its folds are made-up geometry, no predictions.

USAGE foldatlas-sandbox

It listens at http://127.0.0.1:4010 and stores its state in .data/sandbox. Settings are the SANDBOX_* of the environment;
README.md of this package lists them.
`;

// A program that imports this file has read its own command line.
const [, program = '', ...words] = process.argv;
if (existsSync(program) && realpathSync(program) === fileURLToPath(import.meta.url) && words.length > 0) {
  const isHelp = words.some((word) => word === '--help' || word === '-h');
  if (isHelp) console.log(HELP);
  else
    console.error(`foldatlas-sandbox takes no arguments: ${words.join(' ')}. See foldatlas-sandbox --help.`);
  process.exit(isHelp ? 0 : 2);
}

const reading = readEnvironment(process.env);
if ('problems' in reading) {
  for (const problem of reading.problems) console.error(problem);
  // EX_CONFIG of sysexits.h, as the gateway says it: starting again will not help.
  process.exit(78);
}

for (const warning of reading.warnings) console.error(warning);
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
