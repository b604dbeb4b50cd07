// Answers that are there already are given as they are: in a list of a hundred loaded proteins a promise for each field costs more than
// the field. It knows no type of ours but the protein.
import type { GatewayContext } from '../context.ts';
import type { PresentProtein } from '../upstream/proteins/protein-data.ts';
import type { RequiredParts } from '../upstream/proteins/required-parts.ts';

/** A value, or the promise of one where somebody has to be asked. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once, unless it is a promise. */
export const mapMaybePromise = <T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (value instanceof Promise ? value.then(next) : next(value));

/** Reads something off a protein, which is loaded where it lacks what is needed. Null where the Atlas does not hold it. */
export function fromProtein<R>(
  { proteins }: GatewayContext,
  hash: string,
  needs: RequiredParts,
  read: (data: PresentProtein | null) => MaybePromise<R>,
): MaybePromise<R> {
  const here = proteins.getSync(hash, needs);
  return here === undefined ? proteins.load(hash, needs).then(read) : read(here);
}
