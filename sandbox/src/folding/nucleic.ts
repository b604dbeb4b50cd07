/**
 * RNA and DNA strands: every heavy atom of each nucleotide, A-form for RNA (C3′-endo) and B-form
 * for DNA (C2′-endo), from ideal bond lengths, angles and backbone torsions, with planar bases.
 * Knows only one strand.
 */
import { place, toFrame, toLocal, toWorld, type Vec } from '../structure/vector.ts';
import type { FoldAtom } from './model.ts';

interface Form {
  alpha: number;
  beta: number;
  gamma: number;
  delta: number;
  epsilon: number;
  zeta: number;
  chi: number;
  /** C4′–C3′–C2′–C1′: the pucker. */
  nu2: number;
  /** Angle C4′–C3′–O3′. */
  c3o3: number;
  /** Angles C4′–C3′–C2′ and C3′–C2′–C1′. */
  c2Angle: number;
  c1Angle: number;
  /** How far C2′ is turned from O3′ about C4′–C3′, and O4′ from C3′ about C5′–C4′. */
  c2Turn: number;
  o4Turn: number;
}

// Averages of known structures, adjusted within their spread so that the sugar closes and the helix
// has the pitch of its form: 2.81 Å rise and 32.7° twist a nucleotide in A-RNA, 3.38 Å and 36° in
// B-DNA, 3 Å between any two residues.
const A_FORM: Form = {
  alpha: -68.7,
  beta: 177.8,
  gamma: 53.5,
  delta: 86.8,
  epsilon: -157,
  zeta: -75.5,
  chi: -158,
  nu2: 37.8,
  c3o3: 113,
  c2Angle: 102,
  c2Turn: 119.4,
  c1Angle: 101.5,
  o4Turn: 117.6,
};
const B_FORM: Form = {
  alpha: -59.3,
  beta: 185.8,
  gamma: 48,
  delta: 134.6,
  epsilon: 176.9,
  zeta: -100.4,
  chi: -113,
  nu2: -31.7,
  c3o3: 109.5,
  c2Angle: 104.3,
  c2Turn: 119.7,
  c1Angle: 101.2,
  o4Turn: 119.1,
};

// Planar base atoms in the standard base frame (Olson and others, 2001), C1′ first.
const BASES: Readonly<Record<string, string>> = {
  A: "C1' -2.479 5.346;N9 -1.291 4.498;C8 0.024 4.897;N7 0.877 3.902;C5 0.071 2.771;C6 0.369 1.398;N6 1.611 0.909;N1 -0.668 0.532;C2 -1.912 1.023;N3 -2.320 2.290;C4 -1.267 3.124",
  G: "C1' -2.477 5.399;N9 -1.289 4.551;C8 0.023 4.962;N7 0.870 3.969;C5 0.071 2.833;C6 0.424 1.460;O6 1.554 0.955;N1 -0.700 0.641;C2 -1.999 1.087;N2 -2.949 0.139;N3 -2.342 2.364;C4 -1.265 3.177",
  C: "C1' -2.477 5.402;N1 -1.285 4.542;C2 -1.472 3.158;O2 -2.628 2.709;N3 -0.391 2.344;C4 0.837 2.868;N4 1.875 2.027;C5 1.056 4.275;C6 -0.023 5.068",
  U: "C1' -2.481 5.354;N1 -1.284 4.500;C2 -1.462 3.131;O2 -2.563 2.608;N3 -0.302 2.397;C4 0.989 2.884;O4 1.935 2.094;C5 1.089 4.311;C6 -0.024 5.053",
  T: "C1' -2.481 5.354;N1 -1.284 4.500;C2 -1.462 3.135;O2 -2.562 2.608;N3 -0.298 2.407;C4 0.994 2.897;O4 1.944 2.119;C5 1.106 4.338;C7 2.466 4.961;C6 -0.024 5.057",
};

interface Base {
  atoms: { name: string; at: Vec }[];
  /** The glycosidic nitrogen and the atom that chi is measured to. */
  nitrogen: string;
  partner: string;
}

const PARSED = new Map<string, Base>(
  Object.entries(BASES).map(([letter, text]) => {
    const atoms = text.split(';').map((row) => {
      const [name = '', x, y] = row.split(' ');
      return { name, at: [Number(x), Number(y), 0] as Vec };
    });
    const purine = letter === 'A' || letter === 'G';
    return [letter, { atoms, nitrogen: purine ? 'N9' : 'N1', partner: purine ? 'C4' : 'C2' }];
  }),
);

interface Backbone {
  c4: Vec;
  c3: Vec;
  o3: Vec;
}

function nucleotide(
  letter: string,
  form: Form,
  ribose: boolean,
  last: Backbone | undefined,
): { atoms: FoldAtom[]; end: Backbone } {
  const atoms: FoldAtom[] = [];
  const put = (name: string, at: Vec): Vec => {
    atoms.push({ name, element: name.charAt(0), at });
    return at;
  };
  let o5: Vec = [0, 0, 0];
  let c5: Vec = [1.425, 0, 0];
  let c4: Vec;
  if (last) {
    const p = put('P', place(last.c4, last.c3, last.o3, 1.607, 119.7, form.epsilon));
    o5 = place(last.c3, last.o3, p, 1.593, 104, form.zeta);
    c5 = place(last.o3, p, o5, 1.425, 120.9, form.alpha);
    put('OP1', place(c5, o5, p, 1.485, 108.8, form.alpha + 115.6));
    put('OP2', place(c5, o5, p, 1.485, 108.3, form.alpha - 120.8));
    c4 = place(p, o5, c5, 1.51, 110.2, form.beta);
  } else c4 = place([0, 1, 0], o5, c5, 1.51, 110.2, 180);
  put("O5'", o5);
  put("C5'", c5);
  put("C4'", c4);
  const o4 = put("O4'", place(o5, c5, c4, 1.453, 109.3, form.gamma - form.o4Turn));
  const c3 = put("C3'", place(o5, c5, c4, 1.524, 115.5, form.gamma));
  const o3 = put("O3'", place(c5, c4, c3, 1.423, form.c3o3, form.delta));
  const c2 = put("C2'", place(c5, c4, c3, 1.524, form.c2Angle, form.delta + form.c2Turn));
  if (ribose) put("O2'", place(c4, c3, c2, 1.413, 110.6, form.nu2 - 118));
  const c1 = put("C1'", place(c4, c3, c2, 1.528, form.c1Angle, form.nu2));
  const base = PARSED.get(letter);
  if (base) {
    const flat = new Map(base.atoms.map((atom) => [atom.name, atom.at]));
    const [fc1, fn, fp] = [flat.get("C1'"), flat.get(base.nitrogen), flat.get(base.partner)];
    if (fc1 && fn && fp) {
      const nitrogen = place(c2, o4, c1, 1.47, 108.4, -119.5);
      const partner = place(o4, c1, nitrogen, 1.37, 126, form.chi);
      const from = toFrame(fp, fn, fc1);
      const to = toFrame(partner, nitrogen, c1);
      for (const atom of base.atoms)
        if (atom.name !== "C1'") put(atom.name, toWorld(to, toLocal(from, atom.at)));
    }
  }
  return { atoms, end: { c4, c3, o3 } };
}

/**
 * Heavy atoms of each nucleotide. A letter that is no base (N) has sugar and phosphate only; the
 * first has no phosphate.
 */
export function buildStrand(sequence: string, kind: 'rna' | 'dna'): { name: string; atoms: FoldAtom[] }[] {
  const form = kind === 'rna' ? A_FORM : B_FORM;
  let end: Backbone | undefined;
  return Array.from(sequence, (letter) => {
    const built = nucleotide(letter, form, kind === 'rna', end);
    end = built.end;
    const known = PARSED.has(letter);
    return { name: kind === 'rna' ? (known ? letter : 'N') : `D${known ? letter : 'N'}`, atoms: built.atoms };
  });
}
