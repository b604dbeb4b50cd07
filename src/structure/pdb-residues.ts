// What is asked of a PDB text without reading its atoms one by one: how many residues it has, and on which scale its
// B-factors are.

/** Of an ATOM line: chain, number and insertion code of its residue, and its B-factor (columns of the PDB format, 0-based). */
const RESIDUE = [21, 27] as const;
const B_FACTOR = [60, 66] as const;

/** Calls `take` with where each line of an atom begins. */
function eachAtom(pdb: string, take: (start: number) => void): void {
  for (let start = 0; start < pdb.length; ) {
    if (pdb.startsWith('ATOM', start) || pdb.startsWith('HETATM', start)) take(start);
    const end = pdb.indexOf('\n', start);
    if (end === -1) return;
    start = end + 1;
  }
}

/** The number of residues that have atoms. */
export function countResidues(pdb: string): number {
  let count = 0;
  let last = '';
  eachAtom(pdb, (start) => {
    const residue = pdb.slice(start + RESIDUE[0], start + RESIDUE[1]);
    if (residue !== last) count += 1;
    last = residue;
  });
  return count;
}

/** Whether the B-factors are confidences on 0 to 100 instead of 0 to 1. */
export function isInPercent(pdb: string): boolean {
  let found = false;
  eachAtom(pdb, (start) => {
    found ||= Number(pdb.slice(start + B_FACTOR[0], start + B_FACTOR[1])) > 1;
  });
  return found;
}
