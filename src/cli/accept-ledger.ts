// foldatlas accept-ledger: the operator's word that a ledger which has lost what it knew is used
// again.
import { existsSync } from 'node:fs';
import { NoLedgerError, WrongSecretError } from '../store/ledger/mark.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { checkSecretFile, openSecret } from '../store/ledger/secret-file.ts';
import { secretFile, witnessFile } from '../store/ledger/witness-file.ts';
import { withoutCredentials } from '../store/redis-connection.ts';
import { sqlitePath } from '../store/sqlite-file.ts';
import { command, flag } from './command.ts';
import { CliExit, EXIT, errorMessage, loadConfig } from './session.ts';

const SETTINGS =
  'Run this with the settings of the gateway in the environment, and in its folder: STORE_URL or LEDGER_URL, and ' +
  'the secret.';

/** Whether anything is left of a ledger in a file. Opening it would found one. */
const isAnythingLeft = (file: string): boolean =>
  [file, `${file}-wal`, witnessFile(file), secretFile(file)].some((path) => existsSync(path));

export default command({
  name: 'accept-ledger',
  summary: 'Accepts a ledger that has lost what it knew, or whose secret is lost',
  args: {
    'secret-lost': flag(
      'Accepts it with the present secret, also where one that it was written with is lost',
    ),
  },
  examples: [
    ['foldatlas accept-ledger', 'With the settings of the gateway: LEDGER_URL or STORE_URL, and the secret'],
  ],
  exits: [
    [EXIT.ok, 'gateways take submissions with an idempotency key'],
    [EXIT.unreachable, 'the store does not answer'],
    [EXIT.config, 'the configuration is wrong, such as another secret, or a place without a ledger'],
  ],
  async run({ 'secret-lost': isSecretLost = false }, session) {
    const { LEDGER_URL, GATEWAY_SECRET, GATEWAY_SECRET_PREVIOUS: previous } = await loadConfig(session);
    if (LEDGER_URL === 'memory:')
      throw new CliExit(EXIT.config, 'A ledger in memory ends with its process; there is nothing to accept.');
    const place = withoutCredentials(LEDGER_URL);
    const file = sqlitePath(LEDGER_URL);
    try {
      if (file !== undefined && !isAnythingLeft(file)) throw new NoLedgerError('There is no ledger.');
      if (!isSecretLost) checkSecretFile(LEDGER_URL, GATEWAY_SECRET, previous, true);
      const current = openSecret(LEDGER_URL, GATEWAY_SECRET, isSecretLost);
      const ledger = openLedger(LEDGER_URL, { current, previous });
      const isAccepted = await ledger.accept(isSecretLost).finally(() => ledger.close());
      session.say(
        isAccepted
          ? `The ledger at ${place} is accepted as it is. Gateways take submissions with an idempotency key again: ` +
              'restart those whose SQLite file was removed or replaced. Keys of before that are missing in it would ' +
              'be paid again.'
          : `Nothing is wrong with the ledger at ${place}. Is it that of the gateway? ${SETTINGS}`,
      );
      return EXIT.ok;
    } catch (error) {
      if (error instanceof NoLedgerError)
        throw new CliExit(EXIT.config, `There is no ledger at ${place}. ${SETTINGS}`);
      if (error instanceof WrongSecretError)
        throw new CliExit(EXIT.config, `${place}: ${errorMessage(error)} ${SETTINGS}`);
      throw new CliExit(EXIT.unreachable, errorMessage(error));
    }
  },
});
