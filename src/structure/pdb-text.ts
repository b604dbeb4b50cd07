// Writes a structure as PDB text, within the limits of its columns.
import { type BondEnd, type Connection, findConnections } from './connections.ts';
import { readEntities } from './entities.ts';
import { findCharge } from './ions.ts';
import type { ModelAtom, ModelChain, ModelResidue, StructureFile, StructureModel } from './model.ts';
import { distanceBetween, findBonds } from './molecules.ts';
import {
  bridgeRecord,
  endRecords,
  HEADER,
  type LinkPartner,
  linkRecord,
  NO_CELL,
  residueColumns,
  toPdbLines,
  wrapText,
} from './pdb-records.ts';
import { findStandardParent } from './residues.ts';

const MAX_ATOMS = 99_999;
const MAX_RESIDUES = 9_999;

/** One-letter elements start in the second of the four columns, as the format wants. */
const atomNameColumns = ({ name, element }: ModelAtom): string =>
  element.length === 1 && name.length < 4 ? ` ${name}`.padEnd(4) : name.padEnd(4);

/** Such as "2+"; empty where no charge is known, and for none. */
const chargeColumns = (charge: number | undefined): string =>
  charge === undefined || charge === 0 ? '' : `${Math.abs(charge)}${charge < 0 ? '-' : '+'}`;

function atomLine(serial: number, chain: ModelChain, residue: ModelResidue, atom: ModelAtom): string {
  const place = [atom.x, atom.y, atom.z].map((v) => v.toFixed(3).padStart(8)).join('');
  return [
    residue.hetero ? 'HETATM' : 'ATOM  ',
    String(serial).padStart(5),
    ` ${atomNameColumns(atom)} ${residue.name.padStart(3)} ${residueColumns({ ...residue, chain: chain.id })}`,
    `   ${place}`,
    `${atom.occupancy.toFixed(2).padStart(6)}${atom.b.toFixed(2).padStart(6)}`,
    `          ${atom.element.padStart(2)}${chargeColumns(findCharge(residue, atom))}`,
  ].join('');
}

/** Why the columns are too narrow for a structure; undefined when they are not. */
export function findPdbLimit({ chains }: StructureModel): string | undefined {
  const residues = chains.flatMap((chain) => chain.residues);
  const polymers = chains.filter(({ kind }) => kind !== 'ligand').length;
  const atoms = residues.reduce((sum, residue) => sum + residue.atoms.length, 0) + polymers;
  if (atoms > MAX_ATOMS)
    return `PDB files hold at most ${MAX_ATOMS} atoms and chain ends; here are ${atoms}.`;
  const long = chains.find(({ id }) => !/^[\x21-\x7e]$/.test(id));
  if (long !== undefined)
    return `PDB files name chains by one letter; here is a chain named ${JSON.stringify(long.id)}.`;
  const twice = chains.find(({ id }, k) => chains.findIndex((other) => other.id === id) !== k);
  if (twice !== undefined) return `Two chains are named ${twice.id}.`;
  const high = residues.find(({ number }) => number > MAX_RESIDUES || number < -999);
  if (high !== undefined)
    return `PDB files number residues up to ${MAX_RESIDUES}; here is residue ${high.number}.`;
  const wide = residues.find(({ name }) => name.length > 3);
  if (wide !== undefined)
    return `PDB files name components by three letters; here is ${JSON.stringify(wide.name)}.`;
  const all = residues.flatMap((residue) => residue.atoms);
  const odd = all.find(({ name, element }) => name.length > 4 || element.length > 2);
  if (odd !== undefined) return `PDB files name atoms by four letters; here is ${JSON.stringify(odd.name)}.`;
  const far = all.some(({ x, y, z }) => [x, y, z].some((v) => v <= -999.9995 || v >= 9999.9995));
  return far
    ? 'PDB files hold coordinates from -999.999 to 9999.999 ångström; here is one outside.'
    : undefined;
}

/** TITLE records; those after the first have a number. */
const titleLines = (title: string): string[] =>
  wrapText(title).map((line, k) =>
    k === 0 ? `TITLE     ${line}` : `TITLE   ${String(k + 1).padStart(2)} ${line}`,
  );

const MISSING_HEAD = [
  ...['', 'MISSING RESIDUES', 'THE FOLLOWING RESIDUES HAVE NO COORDINATES.'],
  ...['', '  M RES C SSSEQI'],
];

/** Residues of the sequence that have no coordinates. */
function missingLines(polymers: readonly ModelChain[]): string[] {
  const lines = polymers.flatMap(({ id, residues }) =>
    residues
      .filter(({ atoms }) => atoms.length === 0)
      .map((residue) => `    ${residue.name.padStart(3)} ${residueColumns({ ...residue, chain: id }, '  ')}`),
  );
  return lines.length === 0 ? [] : [...MISSING_HEAD, ...lines].map((line) => `REMARK 465 ${line}`);
}

const RESIDUES_PER_LINE = 13;

/** SEQRES records of a polymer. */
function sequenceLines({ id, residues }: ModelChain): string[] {
  const count = String(residues.length).padStart(4);
  return Array.from({ length: Math.ceil(residues.length / RESIDUES_PER_LINE) }, (_, k) => {
    const names = residues
      .slice(k * RESIDUES_PER_LINE, (k + 1) * RESIDUES_PER_LINE)
      .map(({ name }) => name.padStart(3));
    return `SEQRES ${String(k + 1).padStart(3)} ${id} ${count}  ${names.join(' ')}`;
  });
}

/** MODRES records of a polymer: its modified residues with their standard ones. */
const modifiedResidueLines = ({ id, residues }: ModelChain): string[] =>
  residues.flatMap((residue) => {
    const parent = findStandardParent(residue.name);
    if (parent === undefined) return [];
    const place = `${residue.name.padStart(3)} ${residueColumns({ ...residue, chain: id }, ' ')}`;
    return [`MODRES      ${place} ${parent.padStart(3)}  MODIFIED RESIDUE`];
  });

const linkPartner = ({ asym, residue, atom }: BondEnd): LinkPartner => ({
  chain: asym.chain,
  number: residue.number,
  insertion: residue.insertion,
  component: residue.name,
  atomColumns: atomNameColumns(atom),
});

/** SSBOND has cysteines only; the bridges of other components are links. */
const isCysteineBridge = ({ kind, from, to }: Connection): boolean =>
  kind === 'disulf' && from.residue.name === 'CYS' && to.residue.name === 'CYS';

/** SSBOND and LINK records. */
function connectionLines(connections: readonly Connection[]): string[] {
  const bridges = connections.filter(isCysteineBridge);
  const links = connections.filter((connection) => !isCysteineBridge(connection));
  return [
    ...bridges.map(({ from, to, distance }, k) =>
      bridgeRecord(k + 1, linkPartner(from), linkPartner(to), distance),
    ),
    ...links.map(({ from, to, distance }) => linkRecord(linkPartner(from), linkPartner(to), distance)),
  ];
}

type AtomPair = readonly [ModelAtom, ModelAtom];

/** Longest bond between residues of a chain, in ångström. */
const MAX_LINK = 2;

/** The bond between two consecutive residues of a polymer, of which one is no standard one. */
function chainBond(before: ModelResidue, after: ModelResidue): AtomPair[] {
  if (!before.hetero && !after.hetero) return [];
  for (const [last, first] of [
    ['C', 'N'],
    ["O3'", 'P'],
  ]) {
    const from = before.atoms.find(({ name }) => name === last);
    const to = after.atoms.find(({ name }) => name === first);
    if (from !== undefined && to !== undefined && distanceBetween(from, to) < MAX_LINK) return [[from, to]];
  }
  return [];
}

/** The bonds that readers cannot know from the names of residues: those of and to all others. */
const unusualBonds = ({ kind, residues }: ModelChain): AtomPair[] =>
  residues.flatMap((residue, k) => {
    const { atoms, hetero } = residue;
    const own = hetero
      ? findBonds(atoms).flatMap(({ from, to }): AtomPair[] => {
          const [a, b] = [atoms[from], atoms[to]];
          return a && b ? [[a, b]] : [];
        })
      : [];
    const next = kind === 'ligand' ? undefined : residues[k + 1];
    return next === undefined ? own : [...own, ...chainBond(residue, next)];
  });

const MAX_BONDS_PER_LINE = 4;

/** CONECT records: each bond at both of its atoms, in the order of the file. */
function bondLines(pairs: readonly AtomPair[], serials: ReadonlyMap<ModelAtom, number>): string[] {
  // A partner that comes twice would be a double bond.
  const partners = new Map<number, Set<number>>();
  for (const [a, b] of pairs) {
    const [one = 0, two = 0] = [serials.get(a), serials.get(b)];
    partners.set(one, (partners.get(one) ?? new Set()).add(two));
    partners.set(two, (partners.get(two) ?? new Set()).add(one));
  }
  return [...partners]
    .sort(([a], [b]) => a - b)
    .flatMap(([serial, list]) => {
      const sorted = [...list].sort((a, b) => a - b);
      return Array.from({ length: Math.ceil(sorted.length / MAX_BONDS_PER_LINE) }, (_, k) => {
        const bonded = sorted.slice(k * MAX_BONDS_PER_LINE, (k + 1) * MAX_BONDS_PER_LINE);
        return `CONECT${[serial, ...bonded].map((one) => String(one).padStart(5)).join('')}`;
      });
    });
}

/** Writes the file of a structure that is within the limits of the format. */
export function writePdb(model: StructureModel): StructureFile & { ok: true } {
  const polymers = model.chains.filter(({ kind }) => kind !== 'ligand');
  const remarks = [
    ...model.warnings.flatMap(wrapText).map((line) => `REMARK   1 ${line}`),
    ...model.scores.map(({ name, value }) => `REMARK   1 ${name} ${Number(value.toFixed(4))}`),
    ...missingLines(polymers),
  ];
  const sequences = polymers.flatMap(sequenceLines);
  const connections = findConnections(readEntities(model).asyms, model);
  const serials = new Map<ModelAtom, number>();
  const coordinates: string[] = [];
  let serial = 0;
  // All that is no polymer comes behind the last TER.
  for (const chain of [...polymers, ...model.chains.filter(({ kind }) => kind === 'ligand')]) {
    for (const residue of chain.residues) {
      for (const atom of residue.atoms) {
        serials.set(atom, ++serial);
        coordinates.push(atomLine(serial, chain, residue, atom));
      }
    }
    const last = chain.residues.findLast(({ atoms }) => atoms.length > 0);
    if (chain.kind !== 'ligand' && last !== undefined) {
      const end = `${last.name.padStart(3)} ${residueColumns({ ...last, chain: chain.id })}`;
      coordinates.push(`TER   ${String(++serial).padStart(5)}      ${end}`);
    }
  }
  const bonds = bondLines(
    [
      ...model.chains.flatMap(unusualBonds),
      ...connections.map(({ from, to }): AtomPair => [from.atom, to.atom]),
    ],
    serials,
  );
  const records = [
    HEADER,
    ...titleLines(model.title),
    ...remarks,
    ...sequences,
    ...polymers.flatMap(modifiedResidueLines),
    ...connectionLines(connections),
    NO_CELL,
    ...coordinates,
    ...bonds,
    ...endRecords({
      remarks: remarks.length,
      atoms: serials.size,
      chainEnds: coordinates.length - serials.size,
      bonds: bonds.length,
      sequences: sequences.length,
    }),
  ];
  return { ok: true, text: toPdbLines(records), atomCount: serials.size };
}
