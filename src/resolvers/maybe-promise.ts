// Values that may be a promise. Loaded values stay synchronous: in a long list a promise for each
// field costs more than resolving the field.
import type { GatewayContext } from '../context.ts';
import type { PresentProtein } from '../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../upstream/proteins/required-parts.ts';

/** A value, or a promise where it has to be loaded. */
export type MaybePromise<T> = T | Promise<T>;

/** Maps a value, synchronously unless it is a promise. */
export const mapMaybePromise = <T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (value instanceof Promise ? value.then(next) : next(value));

/**
 * Reads from a protein; loads the protein when parts are missing. Null where the Atlas does not
 * have it.
 */
export function fromProtein<R>(
  { proteins }: GatewayContext,
  hash: string,
  needs: RequiredParts,
  read: (data: PresentProtein | null) => MaybePromise<R>,
): MaybePromise<R> {
  const here = proteins.getSync(hash, needs);
  return here === undefined ? proteins.load(hash, needs).then(read) : read(here);
}
