// Scans SMILES in one pass: its syntax and its heavy atoms. Its chemistry is not checked.

export interface SmilesScan {
  /** Heavy atoms, including wildcards and without explicit hydrogens. */
  readonly heavyAtoms: number;
  /** What is wrong with its syntax, if anything. */
  readonly fault: string | undefined;
}

const HYDROGEN = /^\d*H[+-]?\d*$/;

/** Atoms that need no brackets, and the second letters of two more. */
const ORGANIC = 'BCNOPSFIbcnops*';
const SECOND_LETTERS: Readonly<Record<string, string>> = { l: 'C', r: 'B' };
const BONDS = '@-.=#$:/\\~';
/** Dative bonds, as toolkits write them for metal complexes: beyond OpenSMILES, and read by services. */
const DATIVE = ['->', '<-'];
/** The number of a ring bond behind `%`. */
const LONG_RING = /^(?:\d\d?|\(\d{1,5}\))/;
const UNPAIRED = 'its square brackets do not pair';

/** What is wrong with a character that begins nothing. */
function describeOddCharacter(smiles: string, at: number): string {
  if (/\s/.test(smiles)) return 'it holds white space';
  const sign = String.fromCodePoint(smiles.codePointAt(at) ?? 0);
  if (sign === ']') return UNPAIRED;
  const shown = `${JSON.stringify(sign)} at ${at}`;
  if (/[A-Za-z]/.test(sign)) return `${shown} is not an atom, or only in square brackets`;
  if (sign === '+') return `${shown} stands outside square brackets`;
  return `${shown} is not a character of SMILES`;
}

export function scanSmiles(smiles: string): SmilesScan {
  const found = (heavyAtoms: number, fault?: string): SmilesScan => ({ heavyAtoms, fault });
  if (smiles === '') return found(0, 'it is empty');
  let atoms = 0;
  let hydrogens = 0;
  let depth = 0;
  const openRings = new Set<string>();
  const toggleRing = (ring: string) => {
    if (!openRings.delete(ring)) openRings.add(ring);
  };
  for (let at = 0; at < smiles.length && depth >= 0; at += 1) {
    const sign = smiles.charAt(at);
    if (ORGANIC.includes(sign)) atoms += 1;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign >= '0' && sign <= '9') toggleRing(sign);
    else if (sign === '[') {
      const end = smiles.indexOf(']', at);
      const content = smiles.slice(at + 1, end);
      if (end < 0 || content.includes('[')) return found(0, UNPAIRED);
      if (content.length < 8 && HYDROGEN.test(content)) hydrogens += 1;
      else atoms += 1;
      at = end;
    } else if (sign === '%') {
      const [ring] = LONG_RING.exec(smiles.slice(at + 1, at + 8)) ?? [];
      if (ring === undefined) return found(0, `no number of a ring bond follows "%" at ${at}`);
      toggleRing(String(Number(ring.replace(/\D/g, ''))));
      at += ring.length;
    } else if (DATIVE.includes(smiles.slice(at, at + 2))) at += 1;
    else if (!BONDS.includes(sign) && (at === 0 || SECOND_LETTERS[sign] !== smiles.charAt(at - 1)))
      return found(0, describeOddCharacter(smiles, at));
  }
  if (depth !== 0) return found(atoms, 'its parentheses do not pair');
  const [open] = openRings;
  if (open !== undefined) return found(atoms, `its ring bond ${open} is not closed`);
  if (/[=#:$/\\.>]$/.test(smiles)) return found(atoms, 'nothing follows its last bond');
  return atoms + hydrogens === 0 ? found(0, 'it names no atom') : found(atoms);
}
