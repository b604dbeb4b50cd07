// Names of residues and nucleotides: the kind of polymer and the one-letter code, modified ones by
// their parent.

/** What a chain is made of. */
export type PolymerKind = 'protein' | 'rna' | 'dna';

const pairs = (text: string): [string, string][] =>
  text.split(' ').map((pair) => {
    const [name = '', letter = ''] = pair.split(':');
    return [name, letter];
  });

const AMINO = new Map(
  pairs(
    'ALA:A ARG:R ASN:N ASP:D CYS:C GLN:Q GLU:E GLY:G HIS:H ILE:I LEU:L LYS:K MET:M PHE:F PRO:P SER:S THR:T ' +
      'TRP:W TYR:Y VAL:V SEC:U PYL:O ASX:B GLX:Z UNK:X',
  ),
);
const RNA = new Map(pairs('A:A C:C G:G U:U I:I N:N'));
const DNA = new Map(pairs('DA:A DC:C DG:G DT:T DU:U DI:I DN:N'));

/** Parents of frequent modified components (Chemical Component Dictionary, `mon_nstd_parent`). */
const MODIFIED_AMINO = new Map(
  pairs(
    'MSE:M SEP:S TPO:T PTR:Y CSO:C CSD:C CME:C OCS:C CSX:C CAS:C SCY:C CSS:C YCM:C KCX:K MLY:K M3L:K MLZ:K ' +
      'ALY:K LLP:K FME:M MHO:M SME:M HYP:P DPR:P PCA:Q MEN:N HIC:H NEP:H HIP:H TYS:Y TYI:Y IYR:Y NIY:Y ' +
      'TRQ:W TRO:W HTR:W AIB:A DAL:A SNN:N BMT:T ABA:A NLE:L MLE:L MVA:V SAR:G CGU:E AGM:R CIR:R CGV:C ' +
      'DHA:S HYL:K LYZ:K 2MR:R DA2:R ORN:A CR2:G',
  ),
);
const MODIFIED_RNA = new Map(
  pairs(
    'PSU:U H2U:U 5MU:U 4SU:U OMU:U UR3:U 5MC:C OMC:C 4OC:C 2MG:G 7MG:G OMG:G M2G:G YYG:G 1MG:G 1MA:A 6MZ:A ' +
      'MA6:A A2M:A MIA:A',
  ),
);
const MODIFIED_DNA = new Map(pairs('5CM:C 5HC:C 8OG:G 6OG:G 6MA:A 5IU:U BRU:U 3DR:N'));

const TABLES: readonly (readonly [PolymerKind, ReadonlyMap<string, string>, boolean])[] = [
  ['protein', AMINO, true],
  ['rna', RNA, true],
  ['dna', DNA, true],
  ['protein', MODIFIED_AMINO, false],
  ['rna', MODIFIED_RNA, false],
  ['dna', MODIFIED_DNA, false],
];

/**
 * Looks up a component name.
 *
 * @param name - such as MET, A, DA or MSE, in any case
 * @returns kind, one-letter code (the parent's for a modified component) and whether it is
 *   standard; undefined for anything but a known part of a polymer
 */
export function residueOf(
  name: string,
): { kind: PolymerKind; letter: string; standard: boolean } | undefined {
  const upper = name.trim().toUpperCase();
  for (const [kind, table, standard] of TABLES) {
    const letter = table.get(upper);
    if (letter !== undefined) return { kind, letter, standard };
  }
  return undefined;
}

const STANDARD: Readonly<Record<PolymerKind, ReadonlyMap<string, string>>> = {
  protein: AMINO,
  rna: RNA,
  dna: DNA,
};

/** The standard residue of a modified component, such as SER for SEP; undefined for any other. */
export function standardParent(name: string): string | undefined {
  const known = residueOf(name);
  if (known === undefined || known.standard) return undefined;
  return [...STANDARD[known.kind]].find(([, letter]) => letter === known.letter)?.[0];
}
