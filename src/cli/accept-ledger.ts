// foldatlas accept-ledger: the operator's word that a ledger which has lost what it knew is used
// again.
import { openLedger } from '../store/ledger/open-ledger.ts';
import { openSecret } from '../store/ledger/secret-file.ts';
import { command } from './command.ts';
import { CliExit, EXIT, errorMessage, loadConfig } from './session.ts';

const ACCEPTED =
  'The ledger is accepted as it is. Gateways take submissions with an idempotency key again: restart those ' +
  'whose SQLite file was removed or replaced. Keys of before that are missing in it would be paid again.';

export default command({
  name: 'accept-ledger',
  summary: 'Accepts a ledger that has lost what it knew, or whose secret is lost',
  args: {},
  examples: [
    ['foldatlas accept-ledger', 'With the settings of the gateway: LEDGER_URL or STORE_URL, and the secret'],
  ],
  exits: [
    [EXIT.ok, 'gateways take submissions with an idempotency key'],
    [EXIT.unreachable, 'the store does not answer'],
    [EXIT.config, 'the configuration is wrong'],
  ],
  async run(_, session) {
    const { LEDGER_URL, GATEWAY_SECRET, GATEWAY_SECRET_PREVIOUS: previous } = await loadConfig(session);
    if (LEDGER_URL === 'memory:')
      throw new CliExit(EXIT.config, 'A ledger in memory ends with its process; there is nothing to accept.');
    try {
      const current = openSecret(LEDGER_URL, GATEWAY_SECRET, true);
      const ledger = openLedger(LEDGER_URL, { current, previous });
      const isAccepted = await ledger.accept().finally(() => ledger.close());
      session.say(isAccepted ? ACCEPTED : 'Nothing is wrong with this ledger.');
      return EXIT.ok;
    } catch (error) {
      throw new CliExit(EXIT.unreachable, errorMessage(error));
    }
  },
});
