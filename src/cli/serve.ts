// foldatlas serve: the gateway, as `npm start` runs it. Everything else is in process/run.ts.
import { command } from './command.ts';
import { EXIT } from './session.ts';

/** Not within the method below: there the compiler leaves the ending of the name as it is. */
const begin = () => import('../process/run.ts');

export default command({
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
    await (await begin()).run();
    // It ends the process itself.
    return new Promise<number>(() => undefined);
  },
});
