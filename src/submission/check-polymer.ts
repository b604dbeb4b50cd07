// Checks a polymer: its letters and its modifications.
import { findResidue } from '../structure/residues.ts';
import type { Polymer, PolymerType } from './chain.ts';
import { checkCcd } from './check-ligand.ts';
import type { Modification } from './input.ts';
import { type AddIssue, createListIssues, type ItemIssues } from './issues.ts';
import { findInvalidLetters, findParentResidue, LETTERS, OTHER_ACID } from './polymers.ts';

const NAMES: Readonly<Record<PolymerType, string>> = { protein: 'a protein', rna: 'an RNA', dna: 'a DNA' };
const UNKNOWN_NAMES: Readonly<Record<PolymerType, string>> = {
  protein: 'unknown residues (X)',
  rna: 'unknown nucleotides (N)',
  dna: 'unknown nucleotides (N)',
};

const NEAREST: Readonly<Record<string, string>> = { B: 'D or N', Z: 'E or Q', J: 'L or I', U: 'C', O: 'K' };

const OTHER_ACID_HINTS: Readonly<Record<string, string>> = {
  T: 'T is a letter of DNA: write U, or give the chain as dna. A methylated U is the modification 5MU of a U.',
  U: 'U is a letter of RNA: write T, or give the chain as rna. A deoxyuridine is the modification DU of a T.',
};

function suggestLetter(type: PolymerType, letter: string): string {
  const nearest = type === 'protein' ? NEAREST[letter] : undefined;
  return nearest === undefined
    ? `The letters that name one residue are ${LETTERS[type]}.`
    : `Write ${nearest} for ${letter}; the letters that name one residue are ${LETTERS[type]}.`;
}

function checkLetters({ type, sequence }: Polymer, at: string, { wrong, odd }: ItemIssues): void {
  const { wrong: bad, unknown } = findInvalidLetters(type, sequence);
  if (bad.count > 0) {
    const character = String.fromCodePoint(sequence.codePointAt(bad.first) ?? 0);
    const more = bad.count === 1 ? '' : `, and ${bad.count - 1} more characters are not`;
    const isOther = character === OTHER_ACID[type];
    wrong(
      at,
      isOther ? 'OTHER_KIND' : 'BAD_LETTER',
      `${JSON.stringify(character)} at position ${bad.first} (0-based) is not a letter of ${NAMES[type]} ` +
        `sequence${more}.`,
      (isOther ? OTHER_ACID_HINTS[character] : undefined) ??
        `The letters that name one residue are ${LETTERS[type]}; other letters are taken as ${UNKNOWN_NAMES[type]}.`,
    );
  }
  if (unknown.count > 0) {
    odd(
      at,
      'UNKNOWN_RESIDUE',
      `${unknown.count} of ${sequence.length} letters (${unknown.letters}) become ${UNKNOWN_NAMES[type]}; ` +
        `the first is at position ${unknown.first} (0-based).`,
      suggestLetter(type, sequence.charAt(unknown.first)),
    );
  }
}

/** Residues in three-letter codes, one behind the other. Three in a row are no chance. */
const THREE_LETTER_CODES =
  /^(?:ALA|ARG|ASN|ASP|CYS|GLN|GLU|GLY|HIS|ILE|LEU|LYS|MET|MSE|PHE|PRO|SER|THR|TRP|TYR|VAL){3,}$/;
const MAX_SPELLED = 20;
/** Longer sequences are not looked at: so many residues are not spelled out. */
const MAX_SPELLED_LENGTH = 10_000;

function warnOfOtherText({ type, sequence, oddity }: Polymer, at: string, odd: AddIssue): void {
  const isSpelled =
    type === 'protein' && sequence.length <= MAX_SPELLED_LENGTH && THREE_LETTER_CODES.test(sequence);
  if (oddity !== null && !isSpelled) odd(at, 'LOOKS_LIKE_MORE_TEXT', oddity.message, oddity.hint);
  if (type !== 'protein') return;
  if (sequence.length >= 20 && !/[^ACGTU]/.test(sequence))
    odd(
      at,
      'LOOKS_LIKE_NUCLEOTIDES',
      'This protein is made of the letters of nucleotides only.',
      'Give it as dna or rna if that is what it is.',
    );
  if (isSpelled) {
    const codes = sequence.match(/.../g) ?? [];
    const letters = codes.map((code) => findResidue(code)?.letter).join('');
    odd(
      at,
      'LOOKS_LIKE_THREE_LETTER_CODES',
      `This looks like the three-letter codes of ${codes.length} residues, and is read as ${sequence.length} ` +
        'one-letter codes.',
      `Write one letter for each residue: ${letters.slice(0, MAX_SPELLED)}${letters.length > MAX_SPELLED ? '…' : ''}.`,
    );
  }
}

/** Argument for a kind of molecule that a header names. */
const GIVEN_AS: Readonly<Record<string, string>> = {
  protein: 'protein: {sequence: …}',
  rna: 'rna: {sequence: …}',
  dna: 'dna: {sequence: …}',
  ccd: 'ligand: {ccd: ["…"]}',
  smiles: 'ligand: {smiles: "…"}',
};

export function checkSequence(polymer: Polymer, path: string, issues: ItemIssues): void {
  const { type, sequence, headers, headerKind } = polymer;
  const at = `${path}.sequence`;
  if (headerKind !== null && headerKind !== type) {
    issues.wrong(
      at,
      'OTHER_KIND',
      `The FASTA header says "${headerKind}", and the chain is given as ${NAMES[type]}.`,
      `Give it as ${GIVEN_AS[headerKind] ?? 'a ligand, by `smiles` or `ccd`'}, or leave the header out.`,
    );
    return;
  }
  if (headers > 1) {
    issues.wrong(
      at,
      'SEVERAL_SEQUENCES',
      'This FASTA text holds several sequences.',
      'Give each sequence as a chain of its own.',
    );
    return;
  }
  if (sequence === '') {
    issues.wrong(at, 'EMPTY_SEQUENCE', 'The sequence is empty.', `Give one-letter codes: ${LETTERS[type]}.`);
    return;
  }
  checkLetters(polymer, at, issues);
  warnOfOtherText(polymer, at, issues.odd);
}

function checkModification(
  polymer: Polymer,
  modification: Modification,
  path: string,
  issues: ItemIssues,
): void {
  const { wrong, odd } = issues;
  const { position, ccd } = modification;
  const { sequence, type } = polymer;
  checkCcd(ccd, 'SEP', `${path}.ccd`, issues);
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
  const parent = findParentResidue(type, ccd);
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

export function checkModifications(polymer: Polymer, path: string, given: ItemIssues): void {
  const list = `${path}.modifications`;
  const issues = createListIssues(given, list);
  const seen = new Map<number, number>();
  for (const [m, modification] of polymer.modifications.entries()) {
    if (issues.hasManyMistakes()) return;
    const at = `${list}.${m}`;
    checkModification(polymer, modification, at, issues);
    const earlier = seen.get(modification.position);
    if (earlier !== undefined) {
      issues.odd(
        `${at}.position`,
        'DUPLICATE_POSITION',
        `Position ${modification.position} is modified already, by modification ${earlier}.`,
        'Name the one component that stands there; which of them the service takes is not known.',
      );
    }
    seen.set(modification.position, m);
  }
}
