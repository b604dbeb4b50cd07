// foldatlas rotate-secret: seals the ledger's key with a new secret, so that callers still find
// their batches.
import type { Config } from '../config.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import {
  openSecret,
  replacePrincipalKey,
  replaceSecretFile,
  rotateSecret,
  WrongSecretError,
} from '../store/ledger/principal-key.ts';
import { command, flag, option } from './command.ts';
import { CliExit, configOf, EXIT, messageOf, readText } from './session.ts';

/** As GATEWAY_SECRET. */
const MIN_CHARACTERS = 16;

function newSecret(file: string): string {
  const text = readText(file, '--to').trim();
  if (text.length >= MIN_CHARACTERS) return text;
  throw new CliExit(EXIT.data, `--to: ${file} must hold at least ${MIN_CHARACTERS} characters.`);
}

async function rotate(config: Config, ledger: Ledger, next: string): Promise<string[]> {
  const changed = await rotateSecret(ledger, openSecret(config.LEDGER_URL, config.GATEWAY_SECRET), next);
  const beside = config.GATEWAY_SECRET === undefined ? replaceSecretFile(config.LEDGER_URL, next) : undefined;
  return [
    changed ? 'The secret was changed; nothing was lost.' : 'That secret is in use already.',
    beside === undefined
      ? 'Running gateways continue. Give all of them the new secret (GATEWAY_SECRET or ' +
        'GATEWAY_SECRET_FILE) before they start again.'
      : `${beside} holds the new secret. Gateways that run go on.`,
  ];
}

/** Begins anew where no secret opens the ledger. */
async function startAnew(config: Config, ledger: Ledger): Promise<string[]> {
  await replacePrincipalKey(ledger, openSecret(config.LEDGER_URL, config.GATEWAY_SECRET));
  return [
    'The present secret opens the ledger from now on. Batches and idempotency keys of before are not found ' +
      'any more: restart all gateways, and send no submission of before again.',
  ];
}

export default command({
  name: 'rotate-secret',
  summary: 'Changes GATEWAY_SECRET; callers keep their batches and idempotency keys',
  args: {
    to: option('FILE', 'File with the new secret'),
    lost: flag(
      'The old secret is lost: begin anew with the present one; earlier batches are not found again',
    ),
  },
  examples: [
    [
      'umask 077; openssl rand -hex 32 > new.secret; foldatlas rotate-secret --to new.secret',
      'With the settings of the gateway: LEDGER_URL or STORE_URL, and the present secret',
    ],
    ['foldatlas rotate-secret --lost', 'Nothing that was submitted before is found again'],
  ],
  exits: [
    [EXIT.ok, 'the new secret opens the ledger'],
    [EXIT.unreachable, 'the store does not answer'],
    [EXIT.usage, 'the command line is wrong, or the file cannot be read'],
    [EXIT.data, 'the file holds no secret'],
    [EXIT.config, 'the configuration is wrong, or the present secret does not open the ledger'],
  ],
  async run({ to, lost }, session) {
    if ((to === undefined) === (lost !== true))
      throw new CliExit(EXIT.usage, 'Choose one of --to FILE and --lost.');
    const config = await configOf(session);
    if (config.LEDGER_URL === 'memory:')
      throw new CliExit(EXIT.config, 'A ledger in memory ends with its process; there is nothing to change.');
    const next = to === undefined ? undefined : newSecret(to);
    try {
      const ledger = openLedger(config.LEDGER_URL);
      const work = next === undefined ? startAnew(config, ledger) : rotate(config, ledger, next);
      const lines = await work.finally(() => ledger.close());
      for (const line of lines) session.say(line);
      return EXIT.ok;
    } catch (error) {
      if (error instanceof WrongSecretError)
        throw new CliExit(
          EXIT.config,
          'GATEWAY_SECRET: the present secret does not open this ledger, nor does the new one. ' +
            'Give the one that the gateways use, or --lost.',
        );
      throw new CliExit(EXIT.unreachable, messageOf(error));
    }
  },
});
