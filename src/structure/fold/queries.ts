// The queries on a folding result, as plain data in and out, so that a worker thread can answer
// them too; and the structure of a result as the file writers take it.

import { writeMmcif } from '../mmcif.ts';
import type { ModelAtom, ModelResidue, StructureFile, StructureModel } from '../model.ts';
import { writePdb } from '../pdb-text.ts';
import { residueOf } from '../residues.ts';
import type { FoldedChain } from './chains.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import { type ChainPair, type PaeBlock, type PaeRange, paeBlock, paeChainPairs } from './pae.ts';
import type { FoldingResult } from './result.ts';
import { atomRange } from './rows.ts';

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

const NO_CONFIDENCES = 'The confidences in the result do not fit its tokens or their scale and are left out.';

const percent = (unit: number): number => Number((unit * 100).toPrecision(12));

function place(value: unknown): [number, number, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [x, y, z]: unknown[] = value;
  if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return undefined;
  return Number.isFinite(x + y + z) ? [x, y, z] : undefined;
}

const word = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Atoms of one token; those without a place are left out, names that come twice get a number. */
function atomsOf(complex: FoldedComplex, token: number, b: number): ModelAtom[] {
  const [start, end] = atomRange(complex, token);
  const used = new Set<string>();
  const atoms: ModelAtom[] = [];
  for (let k = start; k < end; k++) {
    const at = place(complex.atomPositions[k]);
    if (at === undefined) continue;
    const wanted = word(complex.atomNames[k]);
    const element = (word(complex.atomElements[k]) || /[A-Za-z]/.exec(wanted)?.[0] || 'X').toUpperCase();
    let name = wanted || element;
    for (let n = 1; used.has(name); n++) name = `${wanted || element}${n}`;
    used.add(name);
    const [x, y, z] = at;
    atoms.push({ name, element, x, y, z, occupancy: 1, b });
  }
  return atoms;
}

/** B-factors and confidences are pLDDT, 0 to 100; residues are numbered from 1 in each chain. */
function modelOfFold(result: FoldingResult): StructureModel | undefined {
  const { complex, plddt, summary } = result;
  if (complex === undefined || complex.atomPositions.length === 0) return undefined;
  const { misfits } = summary;
  const residue = (kind: FoldedChain['kind'], token: number, number: number): ModelResidue => {
    const unit = plddt.tokens[token] ?? null;
    const confidence = unit === null ? null : percent(unit);
    const name = word(complex.sequence[token]) || 'UNK';
    return {
      name,
      number,
      insertion: '',
      // Not by `atom_hetero`, which some services leave false for modified residues.
      hetero: kind === 'ligand' || residueOf(name)?.standard !== true,
      confidence,
      atoms: atomsOf(complex, token, confidence ?? 0),
    };
  };
  const score = (name: 'pLDDT' | 'pTM' | 'ipTM', value: number | null) =>
    value === null ? [] : [{ name, value }];
  const odd = [misfits.ptm, misfits.iptm, misfits.chainPairs].filter((reason) => reason !== null);
  return {
    id: complex.id ?? 'fold',
    title: summary.model === null ? 'Predicted structure' : `Structure predicted by ${summary.model}`,
    warnings: [
      ...summary.warnings,
      ...odd.map((reason) => `${reason} They are left out.`),
      ...(misfits.plddt === null ? [] : [NO_CONFIDENCES]),
    ],
    chains: summary.chains.map(({ id, kind, tokenStart, tokenEnd }) => ({
      id,
      kind,
      residues: Array.from({ length: tokenEnd - tokenStart }, (_, k) => residue(kind, tokenStart + k, k + 1)),
    })),
    scores: [
      ...score('pLDDT', summary.meanPlddt === null ? null : percent(summary.meanPlddt)),
      ...score('pTM', summary.ptm),
      ...score('ipTM', summary.iptm),
    ],
  };
}

function written(result: FoldingResult, write: (model: StructureModel) => StructureFile): StructureFile {
  const { structure: misfit } = result.summary.misfits;
  if (misfit !== null) return { ok: false, reason: misfit };
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
