// Reads the key that hashes tokens into the names of callers. A wrong secret is reported as a
// configuration error.
import { ConfigError } from '../config.ts';
import { type LedgerSettings, readPrincipalKey, WrongSecretError } from '../store/ledger/principal-key.ts';

/** @throws ConfigError for a ledger of another secret; Error when the store is unreachable */
export async function openPrincipalKey(settings: LedgerSettings): Promise<string> {
  try {
    return await readPrincipalKey(settings);
  } catch (error) {
    if (!(error instanceof WrongSecretError)) throw error;
    throw new ConfigError([
      'GATEWAY_SECRET: this ledger was written with another secret. With this one callers would not find ' +
        'their batches, and an idempotency key could be paid twice. Give the secret that was used before ' +
        '(without one configured: the .secret file beside the SQLite file). To change it, run ' +
        '`foldatlas rotate-secret`; if it is lost, `foldatlas rotate-secret --lost` ' +
        '(docs/operators.md, Keys).',
    ]);
  }
}
