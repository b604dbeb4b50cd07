// Components of one atom, and the formal charge that the Chemical Component Dictionary gives them.

import type { ModelAtom, ModelResidue } from './model.ts';

/** An ion: the name and element of its only atom, and its charge. */
export interface Ion {
  readonly atom: string;
  /** As it is written, such as "Zn". */
  readonly element: string;
  readonly charge: number;
}

/** Component, its atom where that has another name, and the charge. */
const ROWS =
  'LI:1 NA:1 K:1 RB:1 CS:1 AG:1 TL:1 AU:1 CU1-CU:1 MG:2 CA:2 SR:2 BA:2 MN:2 FE2-FE:2 CO:2 NI:2 CU:2 ZN:2 CD:2 HG:2 ' +
  'PB:2 PT:2 AL:3 GA:3 FE:3 MN3-MN:3 3CO-CO:3 3NI-NI:3 LA:3 CE:3 SM:3 EU3-EU:3 GD3-GD:3 TB:3 LU:3 YB:3 ' +
  'F:-1 CL:-1 BR:-1 IOD-I:-1';

/** By component. */
export const IONS: ReadonlyMap<string, Ion> = new Map(
  ROWS.split(' ').map((row): [string, Ion] => {
    const [names = '', charge] = row.split(':');
    const [component = '', atom = component] = names.split('-');
    const element = atom.charAt(0) + atom.slice(1).toLowerCase();
    return [component, { atom, element, charge: Number(charge) }];
  }),
);

/** The formal charge of an atom: its own, else that of an ion; undefined where neither is known. */
export function findCharge({ name, atoms }: ModelResidue, atom: ModelAtom): number | undefined {
  if (atom.charge !== undefined || atoms.length > 1) return atom.charge;
  const ion = IONS.get(name.toUpperCase());
  return ion?.element.toUpperCase() === atom.element.toUpperCase() ? ion.charge : undefined;
}
