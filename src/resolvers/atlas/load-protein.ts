// Loads proteins with the parts that the selection needs, one or a list.
import type { GatewayContext } from '../../context.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import type { LoadResult } from '../../upstream/proteins/known-proteins.ts';
import { withParts } from '../../upstream/proteins/loaded-parts.ts';
import type { RequiredParts } from '../../upstream/proteins/parts.ts';
import { emptyRecord } from '../../upstream/proteins/record.ts';
import { needsNothing } from '../../upstream/proteins/required-parts.ts';

/** A protein by its hash; null when the Atlas does not have it. */
export const findProtein = (
  { proteins }: GatewayContext,
  hash: string,
  needs: RequiredParts,
): Promise<ProteinRef | null> => proteins.load(hash, needs);

/** GraphQL takes the error at one place of a list as a rejected promise. */
type ListItem = ProteinRef | null | Promise<never>;

/** The proteins of a list in its order. */
export async function loadProteins(
  { proteins }: GatewayContext,
  hashes: readonly string[],
  needs: RequiredParts,
): Promise<readonly ListItem[]> {
  const found = await proteins.loadMany(hashes, needs);
  return found.map((one) => (one instanceof Error ? rejected(one) : one));
}

function rejected(error: Error): Promise<never> {
  const failed = Promise.reject(error);
  // The list may be abandoned before anything awaits this promise.
  failed.catch(() => undefined);
  return failed;
}

/**
 * Proteins that an answer of the service has named: a failure concerns only the parts that it lost.
 */
export async function loadNamed(
  { proteins }: GatewayContext,
  hashes: readonly string[],
  needs: RequiredParts,
): Promise<readonly ProteinRef[]> {
  if (hashes.length === 0 || needsNothing(needs)) return hashes.map((hash) => emptyRecord(hash));
  const found = await proteins.loadMany(hashes, needs);
  return hashes.map((hash, i) => toNamed(hash, needs, found[i] ?? null));
}

function toNamed(hash: string, needs: RequiredParts, found: LoadResult): ProteinRef {
  return found === null || found instanceof Error ? withParts(emptyRecord(hash), needs, found) : found;
}
