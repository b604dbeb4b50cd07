// Measures a submission: exact lengths, copies, and hashes of chains.
import { createHash } from 'node:crypto';
import { type Chain, copiesOf, type Item } from './submission.ts';
import type { Pause } from './yielding.ts';

export type ChainKind = 'PROTEIN' | 'RNA' | 'DNA' | 'LIGAND';

/** A submitted chain without its sequence. */
export interface ChainSummary {
  /** One for each copy; empty when the upstream names the chain. */
  readonly ids: readonly string[];
  readonly kind: ChainKind;
  /** Residues or nucleotides of one copy; 0 for a ligand. */
  readonly length: number;
  /** MD5 of a protein's sequence, its id in the Atlas; null for the other kinds. */
  readonly proteinHash: string | null;
}

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

/** Letters hashed in one step. */
const HASHED = 2 ** 20;

async function hashSequence(sequence: string, pause: Pause): Promise<string> {
  const hash = createHash('md5');
  for (let at = 0; at < sequence.length; at += HASHED) {
    if (at > 0) await pause();
    hash.update(sequence.slice(at, at + HASHED));
  }
  return hash.digest('hex');
}

async function summarizeChain(chain: Chain, pause: Pause): Promise<ChainSummary> {
  const ids = chain.ids ?? [];
  const kind = KINDS[chain.type];
  if (chain.type === 'ligand') return { ids, kind, length: 0, proteinHash: null };
  const { sequence } = chain;
  const proteinHash = chain.type === 'protein' ? await hashSequence(sequence, pause) : null;
  return { ids, kind, length: sequence.length, proteinHash };
}

export interface ItemMeasure {
  /** Chains, every copy counted. */
  readonly chainCount: number;
  /** Residues and nucleotides, every copy counted. */
  readonly length: number;
  /** Ligands, every copy counted. */
  readonly ligandCount: number;
  readonly chains: readonly ChainSummary[];
}

/** Measures an item and hashes its proteins. */
export async function measureItem(item: Item, pause: Pause): Promise<ItemMeasure> {
  let chainCount = 0;
  let length = 0;
  let ligandCount = 0;
  const chains: ChainSummary[] = [];
  for (const chain of item.chains) {
    await pause();
    if (chain === null) continue;
    const copies = copiesOf(chain);
    chainCount += copies;
    if (chain.type === 'ligand') ligandCount += copies;
    else length += copies * chain.sequence.length;
    chains.push(await summarizeChain(chain, pause));
  }
  return { chainCount, length, ligandCount, chains };
}
