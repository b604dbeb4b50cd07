// Checks a covalent bond: its chains, residues and atoms (spec, "CovalentBond").
import type { ResidueAtoms } from './atom-names.ts';
import type { Bond, BondAtom } from './bonds.ts';
import type { Chain } from './chain.ts';
import { hasNoFreeValence } from './free-valence.ts';
import type { ItemIssues } from './issues.ts';
import type { ReferenceChecks } from './reference-checks.ts';

const MAX_LISTED = 30;

/** The atoms of a residue with their indices, for a hint. */
function listAtoms({ names, elements }: ResidueAtoms): string {
  const listed = (names ?? elements).slice(0, MAX_LISTED).map((atom, index) => `${index} ${atom}`);
  return `${listed.join(', ')}${elements.length > MAX_LISTED ? ', …' : ''}`;
}

function describeOrder(chain: Chain | undefined): string {
  if (chain?.type !== 'ligand')
    return "Heavy atoms count from 0, in the order of the component's entry in the dictionary.";
  return chain.ccd?.length
    ? "Heavy atoms count from 0, in the order of the component's entry in the dictionary, without the atoms that " +
        'leave when it is bonded.'
    : 'Heavy atoms count from 0, in the order of the SMILES.';
}

function describeAtom({ residue, atomIndex }: BondAtom): string {
  const name = residue?.names?.[atomIndex ?? -1];
  return name === undefined ? 'the other atom' : `${name} of ${residue?.component}`;
}

/** Reports a name that gives no index, or another one than is given beside it. */
function checkName(
  end: BondAtom,
  n: number,
  path: string,
  chain: Chain | undefined,
  { wrong }: ItemIssues,
): void {
  const { givenName, residue, atomIndex } = end;
  if (givenName === null) return;
  const name = JSON.stringify(givenName.slice(0, 40));
  const { component, names } = residue ?? {};
  const reject = (message: string, hint: string): void =>
    wrong(`${path}.atomName${n}`, 'UNKNOWN_ATOM', message, hint);
  if (chain === undefined)
    reject(
      `The index of ${name} is known only for a chain that has an id.`,
      `Give the chain an id, or give atomIndex${n}.`,
    );
  else if (residue === undefined || !names)
    reject(
      `The gateway does not know the index of ${name} in this residue.`,
      `Give atomIndex${n}. ${residue ? `It has ${listAtoms(residue)}.` : describeOrder(chain)}`,
    );
  else if (residue.leaving.includes(givenName))
    reject(
      `${name} of ${component} leaves when the component is bonded.`,
      `Name the atom that stays: ${listAtoms(residue)}.`,
    );
  else if (!names.includes(givenName))
    reject(`${component} has no heavy atom ${name}.`, `It has ${listAtoms(residue)}.`);
  else if (names[atomIndex ?? -1] !== givenName)
    reject(
      `${name} of ${component} is atom ${names.indexOf(givenName)}, and atomIndex${n} is ${atomIndex}.`,
      'Give the name or the index.',
    );
}

function checkAtom(
  end: BondAtom,
  other: BondAtom,
  n: number,
  path: string,
  chain: Chain,
  issues: ItemIssues,
): void {
  const { atomIndex, residue } = end;
  if (atomIndex === null || atomIndex < 0 || residue === undefined) return;
  const { component, names, elements } = residue;
  if (atomIndex >= elements.length) {
    issues.odd(
      `${path}.atomIndex${n}`,
      'ATOM_OUT_OF_RANGE',
      `Atom ${atomIndex} is none of ${component ?? 'the SMILES'}, as far as the gateway knows; the bond may be left out.`,
      `Its heavy atoms are ${listAtoms(residue)}.`,
    );
    return;
  }
  if (hasNoFreeValence(end, other, chain))
    issues.odd(
      `${path}.${end.givenName === null ? 'atomIndex' : 'atomName'}${n}`,
      'CANNOT_BOND',
      `Atom ${atomIndex} (${names?.[atomIndex]} of ${component}) has no free valence for a bond to ${describeAtom(other)}.`,
      `Check the atom: ${listAtoms(residue)}.`,
    );
}

export function checkBond(bond: Bond, path: string, checks: ReferenceChecks, issues: ItemIssues): void {
  const { wrong, odd } = issues;
  for (const [k, end] of bond.ends.entries()) {
    const n = k + 1;
    const chain = checks.chainAt(`${path}.chainId${n}`, end.chainId);
    const isInside = checks.residueAt(`${path}.residueIndex${n}`, chain, end.residueIndex);
    if (end.atomIndex === null && end.givenName === null)
      wrong(
        path,
        'ATOM_MISSING',
        `The bond has neither atomIndex${n} nor atomName${n}.`,
        `Give one of them. ${end.residue ? `The residue has ${listAtoms(end.residue)}.` : describeOrder(chain)}`,
      );
    else if (end.atomIndex !== null && end.atomIndex < 0)
      wrong(
        `${path}.atomIndex${n}`,
        'ATOM_OUT_OF_RANGE',
        `${end.atomIndex} is not the index of an atom.`,
        'Indices are 0-based.',
      );
    // A residue outside a polymer is a mistake already.
    else if (isInside || chain === undefined || chain.type === 'ligand') {
      checkName(end, n, path, chain, issues);
      const other = bond.ends[k === 0 ? 1 : 0];
      if (isInside && chain !== undefined) checkAtom(end, other, n, path, chain, issues);
    }
  }
  const [one, two] = bond.ends;
  const isSelf =
    one.chainId === two.chainId && one.residueIndex === two.residueIndex && one.atomIndex === two.atomIndex;
  if (isSelf && one.atomIndex !== null)
    odd(path, 'SELF_BOND', 'The bond joins an atom to itself.', 'Name two different atoms.');
}
