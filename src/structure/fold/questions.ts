// Every question that a folding result can answer, as plain data in and out, so that it can be asked in another thread too.

import { writeMmcif } from '../mmcif.ts';
import type { StructureFile } from '../model.ts';
import { writePdb } from '../pdb-text.ts';
import { chainsOf, type FoldedChain, meanOf, tokenPlddt } from './chains.ts';
import { modelOfFold } from './model.ts';
import {
  type ChainPair,
  iptmChainPairs,
  type PaeBlock,
  type PaeRange,
  paeBlock,
  paeChainPairs,
} from './pae.ts';
import { atPath } from './path.ts';
import type { FoldingResult, Numbers } from './result.ts';

/** What is small in a result. Null means that the upstream did not give it. */
export interface FoldSummary {
  /** Number of tokens of the structure. */
  readonly tokenCount: number;
  readonly model: string | null;
  readonly created: string | null;
  readonly tokensUsed: number | null;
  readonly ptm: number | null;
  readonly iptm: number | null;
  /** 0 to 1. */
  readonly meanPlddt: number | null;
  readonly chains: readonly FoldedChain[];
  /** Pair ipTM of all ordered pairs, each chain with itself included; empty without `include_pair_chains_iptm`. */
  readonly chainPairs: readonly ChainPair[];
  /** Null without `include_pae`. */
  readonly pae: { readonly size: number; readonly max: number | null } | null;
  /** Null without `include_embeddings`. */
  readonly embeddings: {
    readonly sequenceShape: readonly number[] | null;
    readonly pairShape: readonly number[] | null;
  } | null;
  readonly warnings: readonly string[];
}

/** A question; null is answered where the result does not hold what is asked. */
export type FoldQuestion =
  | { readonly ask: 'summary' }
  | { readonly ask: 'plddt' }
  | { readonly ask: 'paeBlock'; readonly range: PaeRange }
  | { readonly ask: 'paeChainPairs' }
  | { readonly ask: 'mmcif' }
  | { readonly ask: 'pdb' }
  | { readonly ask: 'raw'; readonly path: string | undefined };

/** The answer to each question. */
export interface FoldAnswers {
  readonly summary: FoldSummary;
  readonly plddt: Numbers | null;
  readonly paeBlock: PaeBlock | null;
  readonly paeChainPairs: readonly ChainPair[];
  readonly mmcif: StructureFile;
  readonly pdb: StructureFile;
  readonly raw: unknown;
}

function shape(value: readonly unknown[] | undefined): number[] | null {
  if (value === undefined) return null;
  const first = value[0];
  return Array.isArray(first) ? [value.length, first.length] : [value.length];
}

function summarise(result: FoldingResult): FoldSummary {
  const chains = chainsOf(result);
  const [sequenceShape, pairShape] = [shape(result.embeddingSequence), shape(result.embeddingPairPooled)];
  return {
    tokenCount: result.complex?.sequence.length ?? 0,
    model: result.model ?? null,
    created: result.created ?? null,
    tokensUsed: result.tokensUsed ?? null,
    ptm: result.ptm ?? null,
    iptm: result.interfacePtm ?? null,
    meanPlddt: meanOf(result.plddt ?? tokenPlddt(result)),
    chains,
    chainPairs: iptmChainPairs(result.pairChainsIptm, chains),
    pae: result.pae === undefined ? null : { size: result.pae.rowCount, max: result.pae.max },
    embeddings: sequenceShape === null && pairShape === null ? null : { sequenceShape, pairShape },
    warnings: result.warnings,
  };
}

/** @throws RangeError for a PAE range that is no range */
export function answerFold(result: FoldingResult, question: FoldQuestion): FoldAnswers[FoldQuestion['ask']] {
  if (question.ask === 'summary') return summarise(result);
  if (question.ask === 'plddt') {
    const plddt = result.plddt ?? tokenPlddt(result);
    return plddt.length === 0 ? null : plddt;
  }
  if (question.ask === 'paeBlock')
    return result.pae === undefined ? null : paeBlock(result.pae, question.range);
  if (question.ask === 'paeChainPairs') {
    return result.pae === undefined ? [] : paeChainPairs(result.pae, chainsOf(result));
  }
  if (question.ask === 'raw') return atPath(result.raw(), question.path);
  const model = modelOfFold(result);
  if (model === undefined) return { ok: false, reason: 'The result holds no structure.' };
  return question.ask === 'mmcif' ? writeMmcif(model) : writePdb(model);
}
