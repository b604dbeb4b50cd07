// The rules of one item's chains: alphabets, modifications, ligands (spec, "Sequence inputs" and "Modification").
// It must not know what refers to a chain, nor other items.

import { checkChainIds } from './check-chain-ids.ts';
import { heavyAtoms, LETTERS, oddLetters, parentResidue, smilesFault } from './chemistry.ts';
import type { ItemNotes } from './issues.ts';
import type { Chain, Item, Ligand, Modification, Polymer, PolymerType } from './submission.ts';

const CCD_CODE = /^[A-Z0-9]{1,5}$/;
const NAMES: Readonly<Record<PolymerType, string>> = { protein: 'a protein', rna: 'an RNA', dna: 'a DNA' };

const TWINS: Readonly<Record<string, string>> = { B: 'D or N', Z: 'E or Q', J: 'L or I', U: 'C', O: 'K' };

function letterHint(type: PolymerType, letter: string): string {
  if (type === 'rna' && letter === 'T') return 'T is a letter of DNA: write U, or give the chain as dna.';
  if (type === 'dna' && letter === 'U') return 'U is a letter of RNA: write T, or give the chain as rna.';
  const twin = type === 'protein' ? TWINS[letter] : undefined;
  return twin === undefined
    ? `The letters are ${LETTERS[type]}.`
    : `Write ${twin} for it; the letters are ${LETTERS[type]}.`;
}

function checkSequence({ type, sequence, headers }: Polymer, path: string, { wrong, odd }: ItemNotes): void {
  const at = `${path}.sequence`;
  if (headers > 1) {
    wrong(
      at,
      'SEVERAL_SEQUENCES',
      `This FASTA text holds ${headers} sequences.`,
      'Give each sequence as a chain of its own.',
    );
    return;
  }
  if (sequence === '') {
    wrong(at, 'EMPTY_SEQUENCE', 'The sequence is empty.', `Give one-letter codes: ${LETTERS[type]}.`);
    return;
  }
  const { wrong: bad, unknown } = oddLetters(type, sequence);
  const [first] = bad;
  if (first !== undefined) {
    const letter = sequence.charAt(first);
    const more = bad.length === 1 ? '' : `, and ${bad.length - 1} more letters are not`;
    wrong(
      at,
      'BAD_LETTER',
      `${JSON.stringify(letter)} at position ${first} (0-based) is no letter of ${NAMES[type]} sequence${more}.`,
      letterHint(type, letter),
    );
  }
  if (unknown.length > 0) {
    odd(
      at,
      'UNKNOWN_RESIDUE',
      `${unknown.length} of ${sequence.length} residues are unknown; the first is at position ${unknown[0]} (0-based).`,
      'The fold is less certain there. Write the residue if you know it.',
    );
  }
  if (type === 'protein' && sequence.length >= 20 && /^[ACGTU]+$/.test(sequence)) {
    odd(
      at,
      'LOOKS_LIKE_NUCLEOTIDES',
      'This protein is made of the letters of nucleotides only.',
      'Give it as dna or rna if that is what it is.',
    );
  }
}

function checkModification(
  polymer: Polymer,
  modification: Modification,
  path: string,
  { wrong, odd }: ItemNotes,
): void {
  const { position, ccd } = modification;
  const { sequence, type } = polymer;
  if (!CCD_CODE.test(ccd)) {
    wrong(
      `${path}.ccd`,
      'BAD_CCD',
      `${JSON.stringify(ccd)} is no chemical component code.`,
      'Use the 1 to 5 letters and digits of the dictionary, such as "SEP".',
    );
  }
  if (position < 0 || position >= sequence.length) {
    const looksOneBased = position === sequence.length && position > 0;
    wrong(
      `${path}.position`,
      'POSITION_OUT_OF_RANGE',
      `Position ${position} is outside the sequence, which has positions 0 to ${sequence.length - 1}.`,
      looksOneBased
        ? `Positions are 0-based and this one looks 1-based: the last residue is ${position - 1}.`
        : 'Positions are 0-based.',
    );
    return;
  }
  const parent = parentResidue(type, ccd);
  const here = sequence.charAt(position);
  if (parent === undefined || here === parent) return;
  const before = sequence.charAt(position - 1);
  odd(
    `${path}.position`,
    before === parent ? 'POSITION_LOOKS_ONE_BASED' : 'UNUSUAL_MODIFICATION',
    `${ccd} is a modification of ${parent}, but position ${position} is ${here}.`,
    before === parent
      ? `Positions are 0-based: ${parent} is at ${position - 1}.`
      : 'Check the position, which is 0-based, and the code.',
  );
}

function checkModifications(polymer: Polymer, path: string, notes: ItemNotes): void {
  const seen = new Map<number, number>();
  for (const [m, modification] of polymer.modifications.entries()) {
    const at = `${path}.modifications.${m}`;
    checkModification(polymer, modification, at, notes);
    const earlier = seen.get(modification.position);
    if (earlier !== undefined) {
      notes.wrong(
        `${at}.position`,
        'DUPLICATE_POSITION',
        `Position ${modification.position} is modified already, by modification ${earlier}.`,
        'Name the one component that stands there.',
      );
    }
    seen.set(modification.position, earlier ?? m);
  }
}

function checkLigand({ smiles, ccd }: Ligand, path: string, { wrong }: ItemNotes): void {
  if ((smiles === null) === (ccd === null)) {
    wrong(
      path,
      smiles === null ? 'LIGAND_EMPTY' : 'LIGAND_AMBIGUOUS',
      smiles === null
        ? 'The ligand has neither SMILES nor CCD codes.'
        : 'The ligand has both SMILES and CCD codes.',
      'Give one of them, such as {ccd: ["ATP"]} or {smiles: "CC(=O)O"}.',
    );
  }
  if (smiles !== null) {
    const fault = smiles === '' ? 'it is empty' : smilesFault(smiles);
    if (fault !== undefined)
      wrong(`${path}.smiles`, 'BAD_SMILES', `This is no SMILES string: ${fault}.`, 'Such as "CC(=O)O".');
  }
  if (ccd?.length === 0)
    wrong(`${path}.ccd`, 'EMPTY_LIST', 'The list of CCD codes is empty.', 'Such as ["ATP"].');
  for (const [i, code] of (ccd ?? []).entries()) {
    if (!CCD_CODE.test(code)) {
      wrong(
        `${path}.ccd.${i}`,
        'BAD_CCD',
        `${JSON.stringify(code)} is no chemical component code.`,
        'Use the 1 to 5 letters and digits of the dictionary, such as "ATP".',
      );
    }
  }
}

/** Every rule that concerns the chains of one item. */
export function checkChains(item: Item, notes: ItemNotes): void {
  if (item.chains.length === 0) {
    notes.wrong(
      'chains',
      'EMPTY_LIST',
      'The item has no chains.',
      'Give at least one protein, rna, dna or ligand.',
    );
  }
  for (const [c, chain] of item.chains.entries()) {
    if (chain === null) {
      notes.wrong(
        `chains.${c}`,
        'ONE_KIND',
        'A chain is exactly one of protein, rna, dna and ligand.',
        'Give each chain as an entry of its own.',
      );
      continue;
    }
    const path = `chains.${c}.${chain.type}`;
    if (chain.type === 'ligand') {
      checkLigand(chain, path, notes);
    } else {
      checkSequence(chain, path, notes);
      checkModifications(chain, path, notes);
    }
  }
  checkChainIds(item, notes);
}

/** Heavy atoms at a residue of a chain, where that can be known from the input; a modified residue has others. */
export function atomsAt(chain: Chain, residue: number): number | undefined {
  if (chain.type === 'ligand' || chain.modifications.some(({ position }) => position === residue))
    return undefined;
  return heavyAtoms(chain.type, chain.sequence, residue);
}
