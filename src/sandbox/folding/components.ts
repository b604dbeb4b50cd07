/** Common chemical components: SMILES, with the component dictionary's atom names in SMILES order. Data only. */

export interface Component {
  smiles: string;
  /** One name per heavy atom, in the order of the SMILES. */
  names: readonly string[];
}

const TABLE: readonly (readonly [code: string, smiles: string, names: string])[] = [
  ['MG', '[Mg+2]', 'MG'],
  ['ZN', '[Zn+2]', 'ZN'],
  ['CA', '[Ca+2]', 'CA'],
  ['NA', '[Na+]', 'NA'],
  ['CL', '[Cl-]', 'CL'],
  ['K', '[K+]', 'K'],
  ['FE', '[Fe+3]', 'FE'],
  ['MN', '[Mn+2]', 'MN'],
  ['SO4', 'S(=O)(=O)([O-])[O-]', 'S O1 O2 O3 O4'],
  ['PO4', 'P(=O)([O-])([O-])[O-]', 'P O1 O2 O3 O4'],
  ['GOL', 'C(C(CO)O)O', 'C1 C2 C3 O3 O2 O1'],
  ['EDO', 'C(CO)O', 'C1 C2 O2 O1'],
  [
    'ATP',
    'c1nc(c2c(n1)n(cn2)[C@H]3[C@@H]([C@@H]([C@H](O3)COP(=O)(O)OP(=O)(O)OP(=O)(O)O)O)O)N',
    "C2 N1 C6 C5 C4 N3 N9 C8 N7 C1' C2' C3' C4' O4' C5' O5' PA O1A O2A O3A PB O1B O2B O3B PG O1G O2G O3G O3' O2' N6",
  ],
];

const BY_CODE = new Map<string, Component>(
  TABLE.map(([code, smiles, names]) => [code, { smiles, names: names.split(' ') }]),
);

export const component = (code: string): Component | undefined => BY_CODE.get(code.toUpperCase());
