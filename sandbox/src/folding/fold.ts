/**
 * Folds an all-atom input into the folding-result JSON: builds each chain, brings the chains
 * together, scores them. A geometric stand-in: deterministic for the same input and repeat. Knows
 * no batches, tasks or HTTP.
 */
import { hashText, randomFrom } from '../structure/random.ts';
import { buildChain } from './build-chain.ts';
import { planChains } from './chains.ts';
import { agreement, attach, dockingOrder, pocketTarget, unmadeBonds } from './conditioning.ts';
import { embed } from './embeddings.ts';
import type { FoldAllAtomInput } from './input.ts';
import { LigandError } from './ligand.ts';
import type { ChainModel } from './model.ts';
import { dock, emptyScene } from './placement.ts';
import { type FoldingResultJson, toComplex } from './result.ts';
import {
  DEFAULT_FORM,
  firstRows,
  paeRows,
  plddtWithBreaks,
  type ResultForm,
  resultTokens,
  vectorRows,
} from './rows.ts';
import { scoreChains } from './scores.ts';

export interface FoldRequest {
  model: string;
  input: FoldAllAtomInput;
  /** 0-based number of the run of this input. */
  repeatIndex: number;
  includePae: boolean;
  includePairChainsIptm: boolean;
  includeEmbeddings: boolean;
  /** ISO 8601; now when absent. */
  createdAt?: string;
  /** A row for each token unless said. */
  form?: ResultForm;
}

export type FoldOutcome =
  | { ok: true; result: FoldingResultJson }
  | { ok: false; error: { code: string; message: string } | string };

const STAND_IN =
  'This result is a geometric stand-in made by the FoldAtlas sandbox from ideal geometry. It is no prediction.';

/** Inputs with more tokens than this fail with the plain text that the service gives. */
const MOST_TOKENS = 2048;

/**
 * Folds one input once. Inputs that fail, as documented: too many tokens (a plain text), and a
 * SMILES that cannot be parsed or laid out or a component that the table does not hold (an error
 * object, LIGAND_FAILED).
 */
export async function fold(request: FoldRequest): Promise<FoldOutcome> {
  const { input, repeatIndex } = request;
  const plans = planChains(input);
  const length = plans.reduce(
    (sum, { input: part }) =>
      sum + (part.type === 'ligand' ? Math.max(1, part.ccd?.length ?? 0) : part.sequence.length),
    0,
  );
  if (length > MOST_TOKENS) return { ok: false, error: 'CUDA out of memory' };
  const key = hashText(JSON.stringify(input.sequences), repeatIndex + 1);
  const random = randomFrom(key);
  const bonds = input.covalent_bonds ?? [];
  let built: ChainModel[];
  try {
    const bonded = new Set(bonds.flatMap(({ chain_id1, chain_id2 }) => [chain_id1, chain_id2]));
    // Copies are built once, bonded and free ones apart.
    const copies = new Map<string, ChainModel>();
    built = plans.map((plan) => {
      const isBonded = bonded.has(plan.id);
      const key = `${plan.entity} ${isBonded}`;
      const chain = copies.get(key) ?? buildChain(plan, repeatIndex, isBonded);
      copies.set(key, chain);
      return { ...chain, id: plan.id };
    });
  } catch (error) {
    if (error instanceof LigandError)
      return { ok: false, error: { code: 'LIGAND_FAILED', message: error.message } };
    throw error;
  }
  const scene = emptyScene();
  const placed: ChainModel[] = [...built];
  for (const k of dockingOrder(built, input)) {
    const chain = built[k];
    if (chain) {
      placed[k] =
        attach(chain, scene, bonds, random) ?? dock(scene, chain, random, pocketTarget(chain, scene, input));
    }
  }
  const scores = scoreChains(
    placed,
    repeatIndex,
    placed.map((chain) => agreement(chain, input)),
  );
  const embeddings = request.includeEmbeddings ? embed(placed, scores) : null;
  const form = request.form ?? DEFAULT_FORM;
  const tokens = resultTokens(placed, form);
  const id = `fold-${key.toString(16).padStart(8, '0')}`;
  return {
    ok: true,
    result: {
      complex: toComplex(id, placed, tokens, form),
      plddt: plddtWithBreaks(placed, tokens),
      ptm: scores.ptm,
      interface_ptm: scores.iptm,
      pae: request.includePae ? paeRows(scores, tokens) : null,
      pair_chains_iptm: request.includePairChainsIptm ? scores.pairs : null,
      output_embedding_sequence: embeddings && vectorRows(embeddings.sequence, tokens),
      output_embedding_pair_pooled: embeddings && vectorRows(embeddings.pair, tokens),
      residue_index: embeddings && firstRows(embeddings.residueIndex, tokens),
      entity_id: embeddings && firstRows(embeddings.entityId, tokens),
      model: request.model,
      created: request.createdAt ?? new Date().toISOString(),
      tokens_used: scores.size,
      warning_messages: [STAND_IN, ...unmadeBonds(placed, bonds)],
    },
  };
}
