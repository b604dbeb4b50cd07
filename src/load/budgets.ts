// Whose budget a request is counted against. A caller that the gateway knows has one of its own, wherever it asks from. A token that
// the gateway cannot judge is anybody's invention: it has one, too, but all of one address together have no more than ten such
// callers have. Who sends none is counted by address. It knows no HTTP.
import type { Caller } from '../callers/caller.ts';

/** One account that a request is counted against, with its part of the usual budget. */
export interface Account {
  readonly key: string;
  readonly share: number;
}

/** Invented tokens of one address are worth so many callers. */
const CALLERS_BEHIND_ONE_ADDRESS = 10;

/** Requests that came over no connection and named nobody, such as those of a command line with a gateway within. */
const NO_CONNECTION = 'no connection';

/** The one account that what a caller keeps here is counted against: an unproven token's address, else what it is counted against itself. */
export const storageAccountOf = (caller: Caller, address: string | undefined): string =>
  accountsOf(caller, address).at(-1)?.key ?? NO_CONNECTION;

/**
 * The accounts of a request.
 *
 * @param caller - null for one that has not proved who it is
 * @param address - undefined for a request that came over no connection
 */
export function accountsOf(caller: Caller | null, address: string | undefined): Account[] {
  const { principal = null, proven = false } = caller ?? {};
  if (principal === null) return address === undefined ? [] : [{ key: `address:${address}`, share: 1 }];
  const own = { key: `caller:${principal}`, share: 1 };
  if (proven || address === undefined) return [own];
  return [own, { key: `behind:${address}`, share: CALLERS_BEHIND_ONE_ADDRESS }];
}
