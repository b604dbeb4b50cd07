// Checks the chains of one item: letters, modifications, ligands, ids (spec, "Sequence inputs" and
// "Modification").
import type { ItemNotes } from './check.ts';
import { findInvalidLetters, LETTERS, parentResidue, scanSmiles } from './chemistry.ts';
import type { Item, Ligand, Modification, Polymer, PolymerType } from './submission.ts';

const USUAL_CHAIN_ID = /^[^\s\p{C}]{1,32}$/u;

/** An id, quoted and shortened for a message. */
const quoted = (id: string): string => JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);

function checkId(id: string, at: string, first: Map<string, string>, { wrong, odd }: ItemNotes): void {
  const earlier = first.get(id);
  if (id.trim() === '') {
    wrong(at, 'BAD_CHAIN_ID', `${quoted(id)} is not a chain id.`, 'Name the chain, such as "A".');
  } else if (earlier !== undefined) {
    wrong(
      at,
      'DUPLICATE_CHAIN_ID',
      `The chain id ${quoted(id)} is taken by ${earlier}.`,
      'Every copy of every chain of an item has an id of its own.',
    );
  } else {
    first.set(id, at);
    if (!USUAL_CHAIN_ID.test(id)) {
      odd(
        at,
        'UNUSUAL_CHAIN_ID',
        `${quoted(id)} is long, or has white space or control characters in it.`,
        'Structure files hold such names badly. Use up to 32 letters and digits, such as "A".',
      );
    }
  }
}

function checkChainIds(item: Item, notes: ItemNotes): void {
  const { odd } = notes;
  const first = new Map<string, string>();
  for (const [c, chain] of item.chains.entries()) {
    if (chain.ids === null) continue;
    const path = `chains.${c}.${chain.type}.ids`;
    if (chain.ids.length === 0) {
      odd(
        path,
        'EMPTY_LIST',
        'The list of ids is empty and counts as left out.',
        'Leave it out, or name each copy, such as ["A", "B"].',
      );
    }
    for (const [i, id] of chain.ids.entries()) {
      checkId(id, `${path}.${i}`, first, notes);
    }
    if (chain.ids.length > 1) {
      const length = chain.type === 'ligand' ? 0 : chain.sequence.length;
      odd(
        path,
        'COPIES_MULTIPLY',
        length === 0
          ? `${chain.ids.length} copies of this ligand are folded.`
          : `${chain.ids.length} copies of ${length} count as ${chain.ids.length * length}.`,
        'Every id is one more copy, and each copy counts toward length and credits. Name one id for a ' +
          'single chain.',
      );
    }
  }
  const unnamed = item.chains.findIndex((chain) => !chain.ids?.length);
  if (first.size > 0 && unnamed >= 0) {
    odd(
      `chains.${unnamed}`,
      'MIXED_CHAIN_IDS',
      'Some chains of this item have ids and this one has none.',
      'The upstream will choose one for it; name it yourself to be able to refer to it.',
    );
  }
}

const CCD_CODE = /^[A-Z0-9]{1,5}$/;
const NAMES: Readonly<Record<PolymerType, string>> = { protein: 'a protein', rna: 'an RNA', dna: 'a DNA' };
const UNKNOWN: Readonly<Record<PolymerType, string>> = {
  protein: 'unknown residues (X)',
  rna: 'unknown nucleotides (N)',
  dna: 'unknown nucleotides (N)',
};

const TWINS: Readonly<Record<string, string>> = { B: 'D or N', Z: 'E or Q', J: 'L or I', U: 'C', O: 'K' };

function letterHint(type: PolymerType, letter: string): string {
  if (type === 'rna' && letter === 'T') return 'T is a letter of DNA: write U, or give the chain as dna.';
  if (type === 'dna' && letter === 'U') return 'U is a letter of RNA: write T, or give the chain as rna.';
  const twin = type === 'protein' ? TWINS[letter] : undefined;
  return twin === undefined
    ? `The letters that name one residue are ${LETTERS[type]}.`
    : `Write ${twin} for ${letter}; the letters that name one residue are ${LETTERS[type]}.`;
}

function checkLetters({ type, sequence }: Polymer, at: string, { wrong, odd }: ItemNotes): void {
  const { wrong: bad, unknown } = findInvalidLetters(type, sequence);
  if (bad.count > 0) {
    const character = String.fromCodePoint(sequence.codePointAt(bad.first) ?? 0);
    const more = bad.count === 1 ? '' : `, and ${bad.count - 1} more characters are not`;
    wrong(
      at,
      'BAD_LETTER',
      `${JSON.stringify(character)} at position ${bad.first} (0-based) is not a letter of ${NAMES[type]} ` +
        `sequence${more}.`,
      `The letters that name one residue are ${LETTERS[type]}; other letters are taken as ${UNKNOWN[type]}.`,
    );
  }
  if (unknown.count > 0) {
    odd(
      at,
      'UNKNOWN_RESIDUE',
      `${unknown.count} of ${sequence.length} letters (${unknown.letters}) become ${UNKNOWN[type]}; ` +
        `the first is at position ${unknown.first} (0-based).`,
      letterHint(type, sequence.charAt(unknown.first)),
    );
  }
}

function checkSequence(polymer: Polymer, path: string, notes: ItemNotes): void {
  const { type, sequence, headers } = polymer;
  const at = `${path}.sequence`;
  if (headers > 1) {
    notes.wrong(
      at,
      'SEVERAL_SEQUENCES',
      'This FASTA text holds several sequences.',
      'Give each sequence as a chain of its own.',
    );
    return;
  }
  if (sequence === '') {
    notes.wrong(at, 'EMPTY_SEQUENCE', 'The sequence is empty.', `Give one-letter codes: ${LETTERS[type]}.`);
    return;
  }
  checkLetters(polymer, at, notes);
  if (type === 'protein' && sequence.length >= 20 && !/[^ACGTU]/.test(sequence)) {
    notes.odd(
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
      `${JSON.stringify(ccd.slice(0, 40))} is not a chemical component code.`,
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
      notes.odd(
        `${at}.position`,
        'DUPLICATE_POSITION',
        `Position ${modification.position} is modified already, by modification ${earlier}.`,
        'Name the one component that stands there; which of them the service takes is not known.',
      );
    }
    seen.set(modification.position, m);
  }
}

function checkLigand({ smiles, ccd }: Ligand, path: string, { wrong, odd }: ItemNotes): void {
  const hasSmiles = smiles !== null && smiles !== '';
  const hasCcd = ccd !== null && ccd.length > 0;
  if (!hasSmiles && !hasCcd) {
    wrong(
      path,
      'LIGAND_EMPTY',
      'The ligand has neither SMILES nor CCD codes.',
      'Give one of them, such as {ccd: ["ATP"]} or {smiles: "CC(=O)O"}.',
    );
  }
  if (hasSmiles && hasCcd) {
    odd(
      path,
      'LIGAND_AMBIGUOUS',
      'The ligand has both SMILES and CCD codes: the CCD codes are folded, the SMILES is ignored.',
      'Give the one that you mean.',
    );
  }
  const fault = hasSmiles ? scanSmiles(smiles).fault : undefined;
  if (fault !== undefined) {
    const note = hasCcd ? odd : wrong;
    note(`${path}.smiles`, 'BAD_SMILES', `This is not a SMILES string: ${fault}.`, 'Such as "CC(=O)O".');
  }
  for (const [i, code] of (ccd ?? []).entries()) {
    if (!CCD_CODE.test(code)) {
      wrong(
        `${path}.ccd.${i}`,
        'BAD_CCD',
        `${JSON.stringify(code.slice(0, 40))} is not a chemical component code.`,
        'Use the 1 to 5 letters and digits of the dictionary, such as "ATP".',
      );
    }
  }
}

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
