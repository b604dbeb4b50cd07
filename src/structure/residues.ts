// Names of residues and nucleotides: the kind of polymer and the one-letter code, modified ones by
// their parent (Chemical Component Dictionary, `mon_nstd_parent`).

/** Kinds of polymers. */
export type PolymerKind = 'protein' | 'rna' | 'dna';

/** A known part of a polymer. */
export interface KnownResidue {
  readonly kind: PolymerKind;
  /** One-letter code; the parent's for a modified component. */
  readonly letter: string;
  readonly standard: boolean;
}

/** Where a name stands twice, the first counts. */
const TABLES: readonly (readonly [PolymerKind, standard: boolean, string])[] = [
  [
    'protein',
    true,
    'ALA:A ARG:R ASN:N ASP:D CYS:C GLN:Q GLU:E GLY:G HIS:H ILE:I LEU:L LYS:K MET:M PHE:F PRO:P SER:S THR:T ' +
      'TRP:W TYR:Y VAL:V SEC:U PYL:O ASX:B GLX:Z UNK:X',
  ],
  ['rna', true, 'A:A C:C G:G U:U I:I N:N'],
  ['dna', true, 'DA:A DC:C DG:G DT:T DU:U DI:I DN:N'],
  [
    'protein',
    false,
    'MSE:M SEP:S TPO:T PTR:Y CSO:C CSD:C CME:C OCS:C CSX:C CAS:C SCY:C CSS:C YCM:C KCX:K MLY:K M3L:K MLZ:K ' +
      'ALY:K LLP:K FME:M MHO:M SME:M HYP:P DPR:P PCA:Q MEN:N HIC:H NEP:H HIP:H TYS:Y TYI:Y IYR:Y NIY:Y ' +
      'TRQ:W TRO:W HTR:W AIB:A DAL:A SNN:N BMT:T ABA:A NLE:L MLE:L MVA:V SAR:G CGU:E AGM:R CIR:R CGV:C ' +
      'DHA:S HYL:K LYZ:K 2MR:R DA2:R ORN:A CR2:G ' +
      'DVA:V DLE:L DIL:I DPN:F DTY:Y DTR:W DSN:S DTH:T DCY:C DAS:D DGL:E DGN:Q DSG:N DLY:K DAR:R DHI:H MED:M',
  ],
  [
    'rna',
    false,
    'PSU:U H2U:U 5MU:U 4SU:U OMU:U UR3:U 5MC:C OMC:C 4OC:C 2MG:G 7MG:G OMG:G M2G:G YYG:G 1MG:G 1MA:A 6MZ:A ' +
      'MA6:A A2M:A MIA:A',
  ],
  ['dna', false, '5CM:C 5HC:C 8OG:G 6OG:G 6MA:A 5IU:U BRU:U 3DR:N'],
];

const KNOWN = new Map<string, KnownResidue>();
for (const [kind, standard, pairs] of TABLES)
  for (const pair of pairs.split(' ')) {
    const [name = '', letter = ''] = pair.split(':');
    if (!KNOWN.has(name)) KNOWN.set(name, { kind, letter, standard });
  }

/**
 * Looks up a component name.
 *
 * @param name - such as MET, A, DA or MSE, in any case
 * @returns undefined for anything but a known part of a polymer
 */
export const findResidue = (name: string): KnownResidue | undefined => KNOWN.get(name.trim().toUpperCase());

/** The standard residue of a modified component, such as SER for SEP; undefined for any other. */
export function findStandardParent(name: string): string | undefined {
  const known = findResidue(name);
  if (known === undefined || known.standard) return undefined;
  const { kind, letter } = known;
  return [...KNOWN].find(([, one]) => one.standard && one.kind === kind && one.letter === letter)?.[0];
}
