// Checks a ligand, and codes of the Chemical Component Dictionary.
import type { AddIssue, ItemIssues } from './issues.ts';
import { scanSmiles } from './smiles.ts';
import type { Ligand } from './submission.ts';

const CCD_CODE = /^[A-Z0-9]{1,5}$/;

export function checkCcd(code: string, example: string, path: string, wrong: AddIssue): void {
  if (CCD_CODE.test(code)) return;
  wrong(
    path,
    'BAD_CCD',
    `${JSON.stringify(code.slice(0, 40))} is not a chemical component code.`,
    `Use the 1 to 5 letters and digits of the dictionary, such as "${example}".`,
  );
}

export function checkLigand({ smiles, ccd }: Ligand, path: string, { wrong, odd }: ItemIssues): void {
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
    const addIssue = hasCcd ? odd : wrong;
    addIssue(`${path}.smiles`, 'BAD_SMILES', `This is not a SMILES string: ${fault}.`, 'Such as "CC(=O)O".');
  }
  for (const [i, code] of (ccd ?? []).entries()) checkCcd(code, 'ATP', `${path}.ccd.${i}`, wrong);
}
