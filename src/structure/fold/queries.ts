// The queries on a folding result, as plain data in and out, so that a worker thread can answer
// them too.

import { writeMmcif } from '../mmcif.ts';
import type { StructureFile, StructureModel } from '../model.ts';
import { writePdb } from '../pdb-text.ts';
import { type ByToken, chainsWithPlddt, paeByToken, vectorsByToken } from './by-token.ts';
import { chainsOf, meanOf } from './chains.ts';
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

/** What is small in a result. Null means that the upstream did not give it. */
function summarise(result: FoldingResult) {
  const { chains, plddt } = chainsWithPlddt(result);
  const foundPae = paeByToken(result, chains);
  const pae = fitting(foundPae);
  const { sequence, pair } = vectorsOf(result, chains);
  const [sequenceShape, pairShape] = [shape(fitting(sequence)), shape(fitting(pair))];
  return {
    /** Number of tokens of the structure. */
    tokenCount: result.complex?.sequence.length ?? 0,
    model: result.model ?? null,
    created: result.created ?? null,
    tokensUsed: result.tokensUsed ?? null,
    ptm: result.ptm ?? null,
    iptm: result.interfacePtm ?? null,
    /** Over the tokens, 0 to 1. */
    meanPlddt: meanOf(fitting(plddt)?.tokens ?? []),
    chains,
    /** Pair ipTM of all ordered pairs of chains; empty without `include_pair_chains_iptm`. */
    chainPairs: iptmChainPairs(result.pairChainsIptm, chains),
    /** Null without `include_pae`. */
    pae: pae === undefined ? null : { size: pae.rowCount, max: pae.max },
    /** Null without `include_embeddings`. */
    embeddings: sequenceShape === null && pairShape === null ? null : { sequenceShape, pairShape },
    warnings: result.warnings,
    /**
     * Errors of members whose rows fit no token or whose scores are outside 0 to 1; their values are
     * null.
     */
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

function written(result: FoldingResult, write: (model: StructureModel) => StructureFile): StructureFile {
  const model = modelOfFold(result);
  return model === undefined ? { ok: false, reason: 'The result holds no structure.' } : write(model);
}

/** The answer to each question; null where the result does not have the data. */
const ANSWERS = {
  summary: summarise,
  /** One value per token, 0 to 1, with the upstream's nulls at chain breaks. */
  plddt(result: FoldingResult): Numbers | null {
    const slots = fitting(chainsWithPlddt(result).plddt)?.slots ?? [];
    return slots.length === 0 ? null : slots;
  },
  /** @throws RangeError for a range that is no range */
  paeBlock(result: FoldingResult, range: PaeRange): PaeBlock | null {
    const pae = fitting(paeByToken(result, chainsOf(result)));
    return pae === undefined ? null : paeBlock(pae, range);
  },
  /** Mean PAE of all ordered pairs of chains, each with itself included. */
  paeChainPairs(result: FoldingResult): readonly ChainPair[] {
    const chains = chainsOf(result);
    const pae = fitting(paeByToken(result, chains));
    return pae === undefined ? [] : paeChainPairs(pae, chains);
  },
  /** The embeddings, one vector for each token. */
  vectors(result: FoldingResult) {
    const { sequence, pair } = vectorsOf(result, chainsOf(result));
    if (!sequence.ok || !pair.ok) return null;
    return { sequence: sequence.value ?? null, pair: pair.value ?? null };
  },
  mmcif: (result: FoldingResult) => written(result, writeMmcif),
  pdb: (result: FoldingResult) => written(result, writePdb),
  raw: (result: FoldingResult, path: string | undefined) => getAtPath(result.raw(), path),
};

type Answers = typeof ANSWERS;

/** The answer to each question. */
export type FoldQueryResult = { readonly [K in keyof Answers]: ReturnType<Answers[K]> };

/** A query, as plain data. */
export type FoldQuery =
  | { readonly ask: Exclude<keyof Answers, 'paeBlock' | 'raw'> }
  | { readonly ask: 'paeBlock'; readonly range: PaeRange }
  | { readonly ask: 'raw'; readonly path: string | undefined };

/** @throws RangeError for a PAE range that is no range */
export function runFoldQuery(result: FoldingResult, question: FoldQuery): FoldQueryResult[FoldQuery['ask']] {
  if (question.ask === 'paeBlock') return ANSWERS.paeBlock(result, question.range);
  if (question.ask === 'raw') return ANSWERS.raw(result, question.path);
  return ANSWERS[question.ask](result);
}
