// The queries on a folding result, as plain data in and out, so that a worker thread can answer
// them too.

import { writeMmcif } from '../mmcif.ts';
import type { StructureFile } from '../model.ts';
import { writePdb } from '../pdb-text.ts';
import { type ByToken, chainsWithPlddt, paeByToken, vectorsByToken } from './by-token.ts';
import { chainsOf, type FoldedChain, meanOf } from './chains.ts';
import { modelOfFold } from './model.ts';
import {
  type ChainPair,
  iptmChainPairs,
  type PaeBlock,
  type PaeRange,
  paeBlock,
  paeChainPairs,
} from './pae.ts';
import type { FoldingResult, Numbers } from './result.ts';
import type { TokenSpan } from './tokens.ts';

/**
 * The value at a dotted path. Only own members are read, so that no path leads into built-in
 * objects.
 *
 * @param path - such as `complex.metadata.chain_lookup.0`; undefined or empty is the whole
 * @returns null where nothing is at that path
 */
function getAtPath(value: unknown, path: string | undefined): unknown {
  if (path === undefined || path === '') return value;
  let here = value;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null) return null;
    if (Array.isArray(here) ? !/^\d+$/.test(key) : !Object.hasOwn(here, key)) return null;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here ?? null;
}

/** What is small in a result. Null means that the upstream did not give it. */
export interface FoldSummary {
  /** Number of tokens of the structure. */
  readonly tokenCount: number;
  readonly model: string | null;
  readonly created: string | null;
  readonly tokensUsed: number | null;
  readonly ptm: number | null;
  readonly iptm: number | null;
  /** Over the tokens, 0 to 1. */
  readonly meanPlddt: number | null;
  readonly chains: readonly FoldedChain[];
  /** Pair ipTM of all ordered pairs of chains; empty without `include_pair_chains_iptm`. */
  readonly chainPairs: readonly ChainPair[];
  /** Null without `include_pae`. */
  readonly pae: { readonly size: number; readonly max: number | null } | null;
  /** Null without `include_embeddings`. */
  readonly embeddings: {
    readonly sequenceShape: readonly number[] | null;
    readonly pairShape: readonly number[] | null;
  } | null;
  readonly warnings: readonly string[];
  /**
   * Errors of members whose rows fit no token or whose scores are outside 0 to 1; their values are
   * null.
   */
  readonly misfits: {
    readonly ptm: string | null;
    readonly iptm: string | null;
    readonly chainPairs: string | null;
    readonly plddt: string | null;
    readonly pae: string | null;
    readonly embeddings: string | null;
  };
}

/** The embeddings, one vector for each token. */
export interface FoldVectors {
  readonly sequence: readonly unknown[] | null;
  readonly pair: readonly unknown[] | null;
}

/** A query; the answer is null where the result does not have the data. */
export type FoldQuery =
  | { readonly ask: 'summary' }
  | { readonly ask: 'plddt' }
  | { readonly ask: 'paeBlock'; readonly range: PaeRange }
  | { readonly ask: 'paeChainPairs' }
  | { readonly ask: 'vectors' }
  | { readonly ask: 'mmcif' }
  | { readonly ask: 'pdb' }
  | { readonly ask: 'raw'; readonly path: string | undefined };

/** The answer to each question. */
export interface FoldQueryResult {
  readonly summary: FoldSummary;
  readonly plddt: Numbers | null;
  readonly paeBlock: PaeBlock | null;
  readonly paeChainPairs: readonly ChainPair[];
  readonly vectors: FoldVectors | null;
  readonly mmcif: StructureFile;
  readonly pdb: StructureFile;
  readonly raw: unknown;
}

function shape(value: readonly unknown[] | undefined): number[] | null {
  if (value === undefined) return null;
  const first = value[0];
  return Array.isArray(first) ? [value.length, first.length] : [value.length];
}

const fitting = <T>(found: ByToken<T>): T | undefined => (found.ok ? found.value : undefined);
const reasonOf = (...found: readonly ByToken<unknown>[]): string | null =>
  found.flatMap((one) => (one.ok ? [] : [one.reason]))[0] ?? null;

function vectorsOf(result: FoldingResult, chains: readonly TokenSpan[]) {
  const { embeddingSequence, embeddingPairPooled } = result;
  return {
    sequence: vectorsByToken(result, chains, '$.output_embedding_sequence', embeddingSequence),
    pair: vectorsByToken(result, chains, '$.output_embedding_pair_pooled', embeddingPairPooled),
  };
}

function summarise(result: FoldingResult): FoldSummary {
  const { chains, plddt } = chainsWithPlddt(result);
  const foundPae = paeByToken(result, chains);
  const pae = fitting(foundPae);
  const { sequence, pair } = vectorsOf(result, chains);
  const [sequenceShape, pairShape] = [shape(fitting(sequence)), shape(fitting(pair))];
  return {
    tokenCount: result.complex?.sequence.length ?? 0,
    model: result.model ?? null,
    created: result.created ?? null,
    tokensUsed: result.tokensUsed ?? null,
    ptm: result.ptm ?? null,
    iptm: result.interfacePtm ?? null,
    meanPlddt: meanOf(fitting(plddt)?.tokens ?? []),
    chains,
    chainPairs: iptmChainPairs(result.pairChainsIptm, chains),
    pae: pae === undefined ? null : { size: pae.rowCount, max: pae.max },
    embeddings: sequenceShape === null && pairShape === null ? null : { sequenceShape, pairShape },
    warnings: result.warnings,
    misfits: {
      ptm: result.oddScores.ptm ?? null,
      iptm: result.oddScores.interfacePtm ?? null,
      chainPairs: result.oddScores.pairChainsIptm ?? null,
      plddt: reasonOf(plddt),
      pae: reasonOf(foundPae),
      embeddings: reasonOf(sequence, pair),
    },
  };
}

function vectorsAnswer(result: FoldingResult): FoldVectors | null {
  const { sequence, pair } = vectorsOf(result, chainsOf(result));
  if (!sequence.ok || !pair.ok) return null;
  return { sequence: sequence.value ?? null, pair: pair.value ?? null };
}

/** @throws RangeError for a PAE range that is no range */
export function runFoldQuery(result: FoldingResult, question: FoldQuery): FoldQueryResult[FoldQuery['ask']] {
  if (question.ask === 'summary') return summarise(result);
  if (question.ask === 'plddt') {
    const slots = fitting(chainsWithPlddt(result).plddt)?.slots ?? [];
    return slots.length === 0 ? null : slots;
  }
  if (question.ask === 'paeBlock' || question.ask === 'paeChainPairs') {
    const chains = chainsOf(result);
    const pae = fitting(paeByToken(result, chains));
    if (question.ask === 'paeBlock') return pae === undefined ? null : paeBlock(pae, question.range);
    return pae === undefined ? [] : paeChainPairs(pae, chains);
  }
  if (question.ask === 'vectors') return vectorsAnswer(result);
  if (question.ask === 'raw') return getAtPath(result.raw(), question.path);
  const model = modelOfFold(result);
  if (model === undefined) return { ok: false, reason: 'The result holds no structure.' };
  return question.ask === 'mmcif' ? writeMmcif(model) : writePdb(model);
}
