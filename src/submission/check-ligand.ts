// Checks a ligand, and codes of the Chemical Component Dictionary.

import type { Ligand } from './chain.ts';
import type { AddIssue, ItemIssues } from './issues.ts';
import type { SmilesSyntax, scanSmiles } from './smiles.ts';

/** No code has four characters. */
const CCD_CODE = /^(?:[A-Z0-9]{1,3}|[A-Z0-9]{5})$/;
/** The wwPDB never gives them to a component: programs use them for ligands without a code. */
const SET_ASIDE = /^(?:LIG|DRG|INH|0[1-9]|[1-9]\d)$/;
/** Entries of the dictionary for what is unknown. */
const WITHOUT_STRUCTURE = /^(?:UNL|UNX|UNK|N|DN)$/;

/** @param example - a code for the hint */
export function checkCcd(code: string, example: string, path: string, { wrong, odd }: ItemIssues): void {
  const name = JSON.stringify(code.slice(0, 40));
  const hint = `Give the component's own code, such as "${example}"`;
  if (!CCD_CODE.test(code))
    wrong(
      path,
      'BAD_CCD',
      `${name} is not a chemical component code.`,
      `Codes have one to three letters and digits, or five, such as "${example}".`,
    );
  else if (SET_ASIDE.test(code))
    odd(
      path,
      'RESERVED_CCD',
      `${name} is no component: the wwPDB sets this code aside for ligands that have none yet.`,
      `${hint}, or a ligand as SMILES. The fold is likely to fail.`,
    );
  else if (WITHOUT_STRUCTURE.test(code))
    odd(
      path,
      'RESERVED_CCD',
      `${name} stands for an unknown component, which has no structure.`,
      `${hint}, or a ligand as SMILES. The fold is likely to fail.`,
    );
}

/** @param addMistake - adds a syntax error: a warning where the SMILES is ignored */
function checkSmilesSyntax(
  smiles: string,
  { fault, moleculeCount }: SmilesSyntax,
  path: string,
  addMistake: AddIssue,
  odd: AddIssue,
): void {
  if (fault !== undefined) {
    addMistake(
      path,
      'BAD_SMILES',
      `This is not a SMILES string: ${fault}.`,
      'Give the SMILES alone, such as "CC(=O)O", or a CCD code as `ccd`. Positions count from 0.',
    );
    return;
  }
  if (moleculeCount > 1)
    odd(
      path,
      'SEVERAL_MOLECULES',
      `This SMILES has ${moleculeCount} molecules, which are folded as one ligand.`,
      'Leave out counter-ions and solvents, and give each molecule as a ligand of its own.',
    );
  if (smiles.includes('*'))
    odd(
      path,
      'WILDCARD_ATOM',
      'This SMILES has an atom * of no element.',
      'Write the element, or leave the atom out. The fold is likely to fail.',
    );
}

/** @param scan - reads the syntax of a SMILES */
export function checkLigand(
  { smiles, ccd }: Ligand,
  path: string,
  issues: ItemIssues,
  scan: typeof scanSmiles,
): void {
  const { wrong, odd } = issues;
  const hasCcd = ccd !== null && ccd.length > 0;
  if (smiles === null && !hasCcd)
    wrong(
      path,
      'LIGAND_EMPTY',
      'The ligand has neither SMILES nor CCD codes.',
      'Give one of them, such as {ccd: ["ATP"]} or {smiles: "CC(=O)O"}.',
    );
  if (smiles !== null && hasCcd)
    odd(
      path,
      'LIGAND_AMBIGUOUS',
      'The ligand has both SMILES and CCD codes: the CCD codes are folded, the SMILES is ignored.',
      'Give the one that you mean.',
    );
  if (smiles !== null) checkSmilesSyntax(smiles, scan(smiles), `${path}.smiles`, hasCcd ? odd : wrong, odd);
  for (const [i, code] of (ccd ?? []).entries()) checkCcd(code, 'ATP', `${path}.ccd.${i}`, issues);
}
