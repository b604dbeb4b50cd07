// Measures an item: chains, residues and ligands, every copy counted.
import { hash } from 'node:crypto';
import { type Chain, copyCount } from './chain.ts';
import type { Item } from './submission.ts';

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

function summarizeChain(chain: Chain): ChainSummary {
  const ids = chain.ids ?? [];
  const kind = KINDS[chain.type];
  if (chain.type === 'ligand') return { ids, kind, length: 0, proteinHash: null };
  const { sequence } = chain;
  const proteinHash = chain.type === 'protein' ? hash('md5', sequence) : null;
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

export function measureItem(item: Item): ItemMeasure {
  let chainCount = 0;
  let length = 0;
  let ligandCount = 0;
  const chains: ChainSummary[] = [];
  for (const chain of item.chains) {
    const copies = copyCount(chain);
    chainCount += copies;
    if (chain.type === 'ligand') ligandCount += copies;
    else length += copies * chain.sequence.length;
    chains.push(summarizeChain(chain));
  }
  return { chainCount, length, ligandCount, chains };
}
