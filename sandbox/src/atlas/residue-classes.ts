// The eight physico-chemical classes that features are spelled in, and how typical each residue is
// of its class. The grouping follows the usual reduced alphabets (D, E, N and Q together; A with G;
// S with T), cut so that the eight are about equally common.

/** One class of residues. */
export interface ResidueClass {
  /** A word that can stand before "residue". */
  readonly name: string;
  /** One-letter codes, most typical first. */
  readonly letters: string;
  /** How typical each letter is, in thousandths. */
  readonly typicality: readonly number[];
  /** Share of residues in an average proteome. */
  readonly share: number;
  readonly hydrophobic: boolean;
  /** +1 basic, -1 acidic or its amide, 0 otherwise. */
  readonly charge: number;
}

/** The classes in pattern order: the index is the digit of the pattern. */
export const RESIDUE_CLASSES: readonly ResidueClass[] = [
  {
    name: 'long aliphatic',
    letters: 'LM',
    typicality: [1000, 850],
    share: 0.1205,
    hydrophobic: true,
    charge: 0,
  },
  { name: 'β-branched', letters: 'IV', typicality: [1000, 900], share: 0.1276, hydrophobic: true, charge: 0 },
  {
    name: 'aromatic',
    letters: 'FYW',
    typicality: [1000, 900, 850],
    share: 0.0788,
    hydrophobic: true,
    charge: 0,
  },
  {
    name: 'basic',
    letters: 'KRH',
    typicality: [1000, 950, 850],
    share: 0.1357,
    hydrophobic: false,
    charge: 1,
  },
  {
    name: 'acidic or amide',
    letters: 'EDQN',
    typicality: [1000, 950, 900, 900],
    share: 0.2015,
    hydrophobic: false,
    charge: -1,
  },
  { name: 'hydroxyl', letters: 'ST', typicality: [1000, 950], share: 0.1195, hydrophobic: false, charge: 0 },
  { name: 'tiny', letters: 'AG', typicality: [1000, 900], share: 0.1532, hydrophobic: false, charge: 0 },
  {
    name: 'chain-locking',
    letters: 'PC',
    typicality: [1000, 900],
    share: 0.0612,
    hydrophobic: false,
    charge: 0,
  },
];

const CLASS_OF = new Int8Array(128).fill(-1);
const TYPICALITY = new Uint16Array(128);
for (const [index, { letters, typicality }] of RESIDUE_CLASSES.entries())
  for (const [at, letter] of [...letters].entries()) {
    CLASS_OF[letter.charCodeAt(0)] = index;
    TYPICALITY[letter.charCodeAt(0)] = typicality[at] ?? 0;
  }

/**
 * Class of a one-letter code given by its character code; -1 for X, B, Z and everything that is no
 * plain residue.
 */
export const toClass = (code: number): number => CLASS_OF[code] ?? -1;

/** How typical the residue is of its class, in thousandths; 0 where it has none. */
export const toTypicality = (code: number): number => TYPICALITY[code] ?? 0;
