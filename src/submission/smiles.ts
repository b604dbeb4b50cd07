// Reads the syntax of SMILES in one pass (OpenSMILES, and what RDKit adds: dative bonds, `[#6]`,
// `%(123)`). Valences and aromaticity are checked in smiles-worker.ts.

export interface SmilesSyntax {
  /** Molecules: parts between dots that no ring bond joins. */
  readonly moleculeCount: number;
  /** The first mistake: the rest of a sentence that begins with "This is not a SMILES string:". */
  readonly fault: string | undefined;
}

const ELEMENTS = new Set(
  (
    'H D T He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr ' +
    'Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re ' +
    'Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg ' +
    'Cn Nh Fl Mc Lv Ts Og Uub Uut Uuq Uup Uuh Uus Uuo b c n o p s as se si te sb *'
  ).split(' '),
);
const HEAVIEST = 118;

/**
 * Isotope, element, chirality, hydrogens, charge, class. RDKit and Open Babel read them in this
 * order.
 */
const BRACKETS =
  /^\d{0,5}([A-Z][a-z]{0,2}|as|s[eib]|te|[bcnops*]|#\d{1,3})(?:@(?:@|TH[12]?|AL[12]?|SP[1-3]?|TB(?:1?[1-9]|[12]0)?|OH(?:[12]?[1-9]|[123]0)?)?)?(?:H\d{0,2})?(?:[+-]\d{0,2}|\+{2,4}|-{2,4})?(?::\d{1,9})?$/;
/** Atoms without brackets, and the second letters of two more. */
const ORGANIC = 'BCNOPSFIbcnops*';
const SECOND_LETTERS: Readonly<Record<string, string>> = { C: 'l', B: 'r' };
const BONDS = '-=#$:/\\~';
const DATIVE_BONDS = ['->', '<-'];
/** The number of a ring bond behind `%`. */
const LONG_RING = /^(?:\d\d|\(\d{1,5}\))/;

const UNPAIRED_BRACKETS = 'its square brackets do not pair';
const UNPAIRED_BRANCHES = 'its parentheses do not pair';

/** @returns the mistake of an atom in square brackets; undefined for a valid one */
function findBracketFault(content: string, at: number): string | undefined {
  const symbol = BRACKETS.exec(content)?.[1];
  const isElement =
    symbol !== undefined &&
    (symbol.startsWith('#') ? Number(symbol.slice(1)) <= HEAVIEST : ELEMENTS.has(symbol));
  if (isElement) return undefined;
  if (content === '') return `the square brackets at ${at} are empty`;
  const shown = `"[${content.slice(0, 20)}]" at ${at}`;
  const [letters = ''] = /[A-Za-z]+/.exec(content) ?? [];
  const proper = letters.charAt(0).toUpperCase() + letters.slice(1, 2).toLowerCase();
  if (symbol === undefined && letters.length === 2 && letters !== proper && ELEMENTS.has(proper))
    return `${shown} names no element: write [${content.replace(letters, proper)}]`;
  if (symbol === undefined && ELEMENTS.has(letters.charAt(0)))
    return `${shown} is no atom: isotope, element, chirality, hydrogens, charge stand in this order, as in [13CH3-]`;
  return `${shown} names no element`;
}

/** The mistake of a character that begins nothing. */
function describeOddCharacter(smiles: string, at: number): string {
  if (/\s/.test(smiles)) return 'it holds white space';
  const sign = String.fromCodePoint(smiles.codePointAt(at) ?? 0);
  if (sign === ']') return UNPAIRED_BRACKETS;
  const shown = `${JSON.stringify(sign)} at ${at}`;
  if (sign === '>') return `${shown} belongs to a reaction; a ligand is a molecule`;
  if (/[A-Za-z]/.test(sign)) return `${shown} is not an atom, or only in square brackets`;
  if (sign === '+' || sign === '@') return `${shown} stands outside square brackets`;
  return `${shown} is not a character of SMILES`;
}

/** Heavy atoms as they are written; aromatic ones begin with a lower-case letter. */
const HEAVY_ATOMS = /\[(?!\d*[HDT][+-]?\d*(?::\d+)?\])[^\]]*\]|Cl|Br|[BCNOPSFIbcnops*]/g;
/** Longer SMILES are not listed: no service folds as many atoms. */
const MAX_LISTED_LENGTH = 10_000;

/** The heavy atoms of a valid SMILES as they are written, in their order. */
export const writtenAtoms = (smiles: string): readonly string[] => smiles.match(HEAVY_ATOMS) ?? [];

/** Elements of the heavy atoms of a SMILES, in their order; undefined for a very long one. */
export function listElements(smiles: string): readonly string[] | undefined {
  if (smiles.length > MAX_LISTED_LENGTH) return undefined;
  return writtenAtoms(smiles).map((text) => {
    const [letters = '*'] = /[A-Z][a-z]?|[a-z]{1,2}|\*/.exec(text) ?? [];
    return letters.charAt(0).toUpperCase() + letters.slice(1);
  });
}

/** An atom, and the one before it in its chain; -1 for none. */
interface Place {
  readonly atom: number;
  readonly parent: number;
}
const START: Place = { atom: -1, parent: -1 };

/** Counts molecules: ring bonds may join the parts between dots. */
function createPartCounter() {
  const joined: number[] = [0];
  let count = 1;
  const find = (part: number): number => {
    let root = part;
    while (joined[root] !== root) root = joined[root] ?? root;
    joined[part] = root;
    return root;
  };
  return {
    count: () => count,
    current: () => joined.length - 1,
    begin: () => {
      count += 1;
      joined.push(joined.length);
    },
    join: (one: number, other: number) => {
      const [a, b] = [find(one), find(other)];
      if (a !== b) count -= 1;
      joined[Math.max(a, b)] = Math.min(a, b);
    },
  };
}

export function scanSmiles(smiles: string): SmilesSyntax {
  let atoms = 0;
  let last = START;
  /** The bond that waits for its atom; empty for none. */
  let bond = '';
  const branches: Place[] = [];
  const rings = new Map<number, Place & { readonly part: number }>();
  /** Atoms that ring bonds of the last atom lead to. */
  let ringNeighbours: Set<number> | undefined;
  const parts = createPartCounter();
  const result = (fault?: string): SmilesSyntax => ({ moleculeCount: parts.count(), fault });
  const addAtom = () => {
    last = { atom: atoms, parent: last.atom };
    atoms += 1;
    bond = '';
    ringNeighbours = undefined;
  };
  const addRingBond = (ring: number, at: number): string | undefined => {
    if (last.atom < 0) return `the ring bond at ${at} follows no atom`;
    bond = '';
    const open = rings.get(ring);
    if (open === undefined) {
      rings.set(ring, { atom: last.atom, parent: last.parent, part: parts.current() });
      return undefined;
    }
    rings.delete(ring);
    if (open.atom === last.atom) return `ring bond ${ring} at ${at} joins an atom to itself`;
    if (open.atom === last.parent || open.parent === last.atom || ringNeighbours?.has(open.atom))
      return `ring bond ${ring} at ${at} joins two atoms that are bonded already`;
    ringNeighbours = (ringNeighbours ?? new Set()).add(open.atom);
    parts.join(open.part, parts.current());
    return undefined;
  };
  for (let at = 0; at < smiles.length; at += 1) {
    const sign = smiles.charAt(at);
    let fault: string | undefined;
    if (ORGANIC.includes(sign)) {
      addAtom();
      if (SECOND_LETTERS[sign] === smiles.charAt(at + 1)) at += 1;
    } else if (sign === '[') {
      const end = smiles.indexOf(']', at);
      const content = smiles.slice(at + 1, end);
      if (end < 0 || content.includes('[')) return result(UNPAIRED_BRACKETS);
      fault = findBracketFault(content, at);
      addAtom();
      at = end;
    } else if (sign === '(') {
      if (bond !== '') fault = `the bond at ${at - 1} stands before a branch: write it inside`;
      else if (last.atom < 0 || smiles.charAt(at - 1) === '(') fault = `the branch at ${at} follows no atom`;
      else if (smiles.charAt(at + 1) === ')') fault = `the branch at ${at} is empty`;
      branches.push(last);
    } else if (sign === ')') {
      if (bond !== '' || last.atom < 0)
        fault = `no atom follows ${JSON.stringify(smiles.charAt(at - 1))} at ${at - 1}`;
      const before = branches.pop();
      if (before === undefined) return result(UNPAIRED_BRANCHES);
      last = before;
      ringNeighbours = undefined;
    } else if (sign >= '0' && sign <= '9') fault = addRingBond(Number(sign), at);
    else if (sign === '%') {
      const [ring] = LONG_RING.exec(smiles.slice(at + 1, at + 8)) ?? [];
      if (ring === undefined) return result(`no number of two digits follows "%" at ${at}`);
      fault = addRingBond(Number(ring.replace(/\D/g, '')), at);
      at += ring.length;
    } else if (sign === '.') {
      if (bond !== '') fault = `no atom follows the bond at ${at - 1}`;
      else if (last.atom < 0) fault = `no atom stands before the dot at ${at}`;
      last = START;
      parts.begin();
    } else {
      const isDative = DATIVE_BONDS.includes(smiles.slice(at, at + 2));
      if (!isDative && !BONDS.includes(sign)) return result(describeOddCharacter(smiles, at));
      if (bond !== '') fault = `two bonds stand at ${at - 1}`;
      else if (last.atom < 0) fault = `no atom stands before the bond at ${at}`;
      bond = sign;
      // Code and JSON double a backslash; RDKit reads one bond.
      if (isDative || smiles.startsWith('\\\\', at)) at += 1;
    }
    if (fault !== undefined) return result(fault);
  }
  if (branches.length > 0) return result(UNPAIRED_BRANCHES);
  const [open] = rings.keys();
  if (open !== undefined) return result(`its ring bond ${open} is not closed`);
  if (bond !== '') return result('nothing follows its last bond');
  if (atoms === 0) return result('it names no atom');
  if (last === START) return result('no atom follows its last dot');
  return result();
}
