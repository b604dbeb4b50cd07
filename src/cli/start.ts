// foldatlas serve and foldatlas sandbox: the two servers, as `npm start` and `npm run sandbox` run
// them.
import { runSandbox } from '../process/embedded-sandbox.ts';
import { command } from './command.ts';
import { EXIT } from './session.ts';

/** A server ends the process itself. */
const untilExit = (): Promise<number> => new Promise(() => undefined);

export const serve = command({
  name: 'serve',
  summary: 'Starts the gateway; settings come from the environment',
  args: {},
  examples: [
    ['foldatlas serve', 'http://127.0.0.1:4000/graphql over an embedded sandbox'],
    ['UPSTREAM_URL=https://api.example.org PORT=8080 foldatlas serve', 'Over a deployment, on another port'],
  ],
  exits: [
    [EXIT.ok, 'stopped by a signal, all answers finished'],
    [1, 'it cannot start: the port is taken, or the store does not answer'],
    [EXIT.config, 'the configuration is wrong'],
  ],
  async run() {
    await (await import('../process/run.ts')).run();
    return untilExit();
  },
});

export const sandbox = command({
  name: 'sandbox',
  summary: 'Starts the stand-in of the service by itself; settings are the SANDBOX_* of the environment',
  args: {},
  examples: [
    ['foldatlas sandbox', 'http://127.0.0.1:4010, stored in .data/sandbox'],
    [
      'SANDBOX_DATA=memory SANDBOX_SIZE=small SANDBOX_PORT=5000 foldatlas sandbox',
      'Small, gone when it stops',
    ],
  ],
  exits: [
    [EXIT.ok, 'stopped by a signal'],
    [1, 'it cannot start: a setting is wrong, the port is taken, or another one has its data folder'],
    [EXIT.config, 'the package foldatlas-sandbox is not installed'],
  ],
  async run() {
    await runSandbox();
    return untilExit();
  },
});
