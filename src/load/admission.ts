// What stands before the work of every request, whatever it came by: whose budget it is counted against, and whether anything is
// left of that. It knows no HTTP and no GraphQL.
import type { IncomingMessage } from 'node:http';
import { addressOf, clientAddress, noteAddress } from '../callers/address.ts';
import type { Caller } from '../callers/caller.ts';
import { type Account, accountsOf } from './budgets.ts';
import type { RateLimit, Verdict } from './rate-limit.ts';

export interface Admission {
  /** Notes where a request comes from, by its connection. */
  note(request: Request, incoming: IncomingMessage | undefined): void;
  /** Whose budget it is counted against. */
  accounts(request: Request): Promise<readonly Account[]>;
  /** Counts a request: the account with the least left decides. Null where nothing is counted. */
  spend(request: Request): Promise<Verdict | null>;
}

export interface AdmissionOptions {
  readonly limit: RateLimit;
  /** Requests of an account with a share of 1; 0: any number. */
  readonly perMinute: number;
  /** Proxies in front that are believed. */
  readonly hops: number;
  /** Hides an address: what is kept of it need only be the same again. */
  readonly hide: (address: string) => string;
  readonly identify: (request: Request) => Promise<Caller>;
  /** Told once when somebody in front forwards addresses that are not believed. */
  readonly onUnbelieved: () => void;
}

/** Opens the entrance. */
export function openAdmission(options: AdmissionOptions): Admission {
  const { limit, perMinute, hops, hide, identify, onUnbelieved } = options;
  const known = new WeakMap<Request, Promise<Account[]>>();
  let told = false;

  // Who has not proved who it is will be told so by whoever needs to know; here it is somebody at an address.
  const asked = async (request: Request): Promise<Account[]> =>
    accountsOf(await identify(request).catch(() => null), addressOf(request));
  const accounts: Admission['accounts'] = (request) => {
    const found = known.get(request) ?? asked(request);
    known.set(request, found);
    return found;
  };

  return {
    note(request, incoming) {
      if (incoming === undefined) return;
      noteAddress(request, hide(clientAddress(incoming, hops)));
      if (told || hops > 0 || incoming.headers['x-forwarded-for'] === undefined) return;
      told = true;
      onUnbelieved();
    },
    accounts,
    async spend(request) {
      if (perMinute === 0) return null;
      let least: Verdict | null = null;
      for (const { key, share } of await accounts(request)) {
        const verdict = await limit.spend({ key, perMinute: perMinute * share });
        if (!verdict.allowed) return verdict;
        if (least === null || verdict.remaining < least.remaining) least = verdict;
      }
      return least;
    },
  };
}
