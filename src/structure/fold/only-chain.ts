// Names the only chain of a result that does not name it, as its submission did.
import { ONLY_CHAIN } from './chains.ts';
import { describeMisfit } from './misfit.ts';
import type { FoldingResult } from './result.ts';

/** A result whose chains cannot be told apart: it may have joined several into one. */
function withLostChains(fold: FoldingResult, submittedCount: number): FoldingResult {
  const misfit = describeMisfit(
    'complex.chain_id',
    `the chain of each token, for ${submittedCount} chains were submitted`,
    'none',
  );
  const misfits = { ...fold.misfits, chains: misfit, chainPairs: misfit, structure: misfit };
  return { ...fold, chainPairs: [], misfits };
}

/**
 * The result with a name for its only chain and a warning that says so; another result as it is.
 *
 * @param submitted - ids of the chains in its submission; none where that is not known
 */
export function nameOnlyChain(fold: FoldingResult, submitted: readonly string[]): FoldingResult {
  if (!fold.isNameless) return fold;
  if (submitted.length > 1) return withLostChains(fold, submitted.length);
  const [id = ONLY_CHAIN] = submitted;
  const source = submitted.length === 0 ? '' : ', as in its submission';
  const warning = `The upstream's result does not name its only chain; it is ${id} here${source}.`;
  return {
    ...fold,
    chains: fold.chains.map((chain) => ({ ...chain, id })),
    chainPairs: fold.chainPairs.map((pair) => ({ ...pair, a: id, b: id })),
    warnings: [...fold.warnings, warning],
  };
}
