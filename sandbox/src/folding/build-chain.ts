/**
 * One chain of any kind at its own origin: the right builder, and a confidence for each token.
 * Knows no other chain.
 */
import { round } from '../structure/confidence.ts';
import { buildProtein } from '../structure/protein.ts';
import { hashText } from '../structure/random.ts';
import type { ChainPlan } from './chains.ts';
import { arranged, component } from './components.ts';
import { buildHaem } from './haem.ts';
import type { LigandInput, PolymerInput } from './input.ts';
import { buildLigand, LigandError } from './ligand.ts';
import type { ChainModel, FoldAtom, Token } from './model.ts';
import { modify } from './modifications.ts';
import { buildStrand } from './nucleic.ts';

/** The distance between the components of one ligand, in ångström. */
const COMPONENT_GAP = 3.4;

const wobble = (text: string): number => 0.08 * (hashText(text) / 4294967296 - 0.5);

/** The residues as they are modified. */
function modified(tokens: Token[], input: PolymerInput): Token[] {
  const codes = new Map((input.modifications ?? []).map(({ position, ccd }) => [position, ccd]));
  return tokens.map((token) => {
    const code = codes.get(token.index);
    return code === undefined ? token : modify(token, code);
  });
}

function polymerTokens(input: PolymerInput, salt: number): Token[] {
  if (input.type === 'protein') {
    const model = buildProtein(input.sequence, salt);
    return model.residues.map(({ name, atoms }, index) => ({
      name,
      atoms: atoms.map(({ name: atom, element, x, y, z }) => ({ name: atom, element, at: [x, y, z] })),
      plddt: model.plddt[index] ?? 0,
      hetero: false,
      index,
    }));
  }
  const n = input.sequence.length;
  return buildStrand(input.sequence, input.type).map(({ name, atoms }, index) => {
    const end = Math.min(index, n - 1 - index);
    const around = input.sequence.slice(Math.max(0, index - 2), index + 3);
    return {
      name,
      atoms,
      plddt: round(0.82 + wobble(around) - (end < 3 ? 0.06 * (3 - end) : 0), 3),
      hetero: false,
      index,
    };
  });
}

function ligandAtoms(code: string, seed: number, isBonded: boolean): readonly FoldAtom[] {
  if (code === 'HEM') return arranged(code, buildHaem(), isBonded);
  const known = component(code);
  if (!known) throw new LigandError(`the component "${code}" is not in the sandbox's table: send its SMILES`);
  return arranged(code, buildLigand(known.smiles, seed, known.names), isBonded);
}

/**
 * One token a component: a SMILES is one component named LIG. Several components stand in a row,
 * clear of one another.
 */
function ligandTokens(input: LigandInput, seed: number, isBonded: boolean): Token[] {
  const codes = (input.ccd ?? []).map((code) => code.toUpperCase());
  const parts =
    codes.length > 0
      ? codes.map((name) => ({ name, atoms: ligandAtoms(name, seed, isBonded) }))
      : [{ name: 'LIG', atoms: buildLigand(input.smiles ?? '', seed) }];
  let edge = 0;
  return parts.map(({ name, atoms }, index) => {
    const low = atoms.reduce((least, { at }) => Math.min(least, at[0]), Number.POSITIVE_INFINITY);
    const shift = index === 0 ? 0 : edge - low;
    const shifted = atoms.map((atom) => ({
      ...atom,
      at: [atom.at[0] + shift, atom.at[1], atom.at[2]] as const,
    }));
    edge = shifted.reduce((most, { at }) => Math.max(most, at[0]), Number.NEGATIVE_INFINITY) + COMPONENT_GAP;
    const plddt = round(0.78 + 2 * wobble(codes.length > 0 ? name : (input.smiles ?? name)), 3);
    return { name, atoms: shifted, plddt, hetero: true, index };
  });
}

/**
 * @param salt the repeat: another number gives another arrangement of the same chain
 * @param isBonded whether a covalent bond names the chain
 */
export function buildChain(plan: ChainPlan, salt: number, isBonded: boolean): ChainModel {
  const { id, entity, input } = plan;
  if (input.type === 'ligand') {
    const text = (input.ccd?.length ? input.ccd.join(',') : input.smiles) ?? '';
    return {
      id,
      entity,
      kind: 'ligand',
      tokens: ligandTokens(input, (hashText(text) + salt) % 2 ** 31, isBonded),
      text,
    };
  }
  return {
    id,
    entity,
    kind: input.type,
    tokens: modified(polymerTokens(input, salt), input),
    text: input.sequence,
  };
}
