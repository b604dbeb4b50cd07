// foldatlas sandbox: runs the upstream's stand-in, as `npm run sandbox` does.
import { runSandbox } from '../process/embedded-sandbox.ts';
import { command } from './command.ts';
import { EXIT } from './session.ts';

export default command({
  name: 'sandbox',
  summary: 'Starts the stand-in of the service by itself; settings are the SANDBOX_* of the environment',
  args: {},
  examples: [
    ['foldatlas sandbox', 'http://127.0.0.1:4010, kept in .data/sandbox'],
    [
      'SANDBOX_DATA=memory SANDBOX_SIZE=small SANDBOX_PORT=5000 foldatlas sandbox',
      'Small, gone when it stops',
    ],
  ],
  exits: [
    [EXIT.ok, 'stopped by a signal'],
    [1, 'it cannot start: a setting is wrong, the port is taken, or another one has its data folder'],
  ],
  async run() {
    await runSandbox();
    // It ends the process itself.
    return new Promise<number>(() => undefined);
  },
});
