// The queries on a folding result, as plain data in and out, so that a worker thread can answer
// them too.

import { writeMmcif } from '../mmcif.ts';
import type { StructureFile, StructureModel } from '../model.ts';
import { writePdb } from '../pdb-text.ts';
import type { Numbers } from './fields.ts';
import { modelOfFold } from './model.ts';
import { type ChainPair, type PaeBlock, type PaeRange, paeBlock, paeChainPairs } from './pae.ts';
import type { FoldingResult } from './result.ts';

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

function written(result: FoldingResult, write: (model: StructureModel) => StructureFile): StructureFile {
  const model = modelOfFold(result);
  return model === undefined ? { ok: false, reason: 'The result holds no structure.' } : write(model);
}

/** The answer to each question; null where the result does not have the data. */
const ANSWERS = {
  summary: ({ summary }: FoldingResult) => summary,
  /** One value per token, 0 to 1, with the upstream's nulls at chain breaks. */
  plddt: ({ plddt }: FoldingResult): Numbers | null => (plddt.slots.length === 0 ? null : plddt.slots),
  /** @throws RangeError for a range that is no range */
  paeBlock: ({ pae }: FoldingResult, range: PaeRange): PaeBlock | null =>
    pae === undefined ? null : paeBlock(pae, range),
  /** Mean PAE of all ordered pairs of chains, each with itself included. */
  paeChainPairs: ({ pae, summary }: FoldingResult): readonly ChainPair[] =>
    pae === undefined ? [] : paeChainPairs(pae, summary.chains),
  /** The embeddings, one vector for each token. */
  vectors: ({ vectors }: FoldingResult) => vectors,
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
