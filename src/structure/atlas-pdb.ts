// PDB files of the Atlas: the service's atoms between a head and an end of ours, whichever answer
// they came from. Readers that expect a whole PDB file want HEADER first, disulfide bridges and a
// unit cell, and TER, MASTER and END, which the service leaves out. Works on bytes, because lists
// have hundreds of structures.
import { isBondLength } from './connections.ts';
import { decodeText } from './lazy-text.ts';
import { distanceBetween } from './molecules.ts';
import { parsePdb } from './pdb.ts';
import { bridgeRecord, endRecords, HEADER, NO_CELL, toPdbLines, wrapRemark } from './pdb-records.ts';
import { isInPercent, type PlddtUnit, scaleBFactors, scaleRemark } from './plddt-scale.ts';

export interface AtlasPdb {
  readonly hash: string;
  /** 0 to 1; null where no answer states it. */
  readonly ptm: number | null;
  /** 0 to 1; null where no answer states it. */
  readonly meanPlddt: number | null;
  /** The scale on which the file is to have pLDDT. */
  readonly unit: PlddtUnit;
}

const NEWLINE = 0x0a;
const [LETTER_A, LETTER_G, LETTER_S, LETTER_T] = [0x41, 0x47, 0x53, 0x54];
const COORDINATES = /^(?:ATOM {2}|HETATM|MODEL )/;
/** Parts of the service's head that ours replaces. Other remarks stay, such as the licence. */
const REPLACED = /^(?:HEADER|TITLE |CRYST1|SSBOND|REMARK +(?:\d+ +)?(?:ptm|mean_plddt)\b)/;

function findLineEnd(text: Buffer, start: number): number {
  const end = text.indexOf(NEWLINE, start);
  return end === -1 ? text.length : end;
}

/** The lines before the coordinates that stay, and where the coordinates begin. */
function readHead(text: Buffer): { readonly lines: readonly string[]; readonly end: number } {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = findLineEnd(text, start);
    const line = text.toString('utf8', start, end).trimEnd();
    if (COORDINATES.test(line)) break;
    if (line !== '' && !REPLACED.test(line)) lines.push(line);
    start = end + 1;
  }
  return { lines, end: Math.min(start, text.length) };
}

/** The records from the coordinates on, up to MASTER or END. */
interface Coordinates {
  /** Where the line of each atom begins. */
  readonly atoms: readonly number[];
  /** Where the line of the last atom begins, unless TER follows it. */
  readonly openEnd: number | undefined;
  /** Names of the other records. */
  readonly records: readonly string[];
  readonly end: number;
}

function readCoordinates(text: Buffer, start: number): Coordinates {
  const atoms: number[] = [];
  const records: string[] = [];
  let openEnd: number | undefined;
  let at = start;
  while (at < text.length) {
    const end = findLineEnd(text, at);
    const isAtom = text[at] === LETTER_A && text[at + 1] === LETTER_T;
    const record = isAtom ? 'ATOM' : text.toString('latin1', at, Math.min(end, at + 6)).trimEnd();
    if (record === 'MASTER' || record === 'END') break;
    if (isAtom || record === 'HETATM') {
      atoms.push(at);
      openEnd = at;
    } else {
      records.push(record);
      if (record === 'TER') openEnd = undefined;
    }
    at = end + 1;
  }
  return { atoms, openEnd, records, end: Math.min(at, text.length) };
}

/** SSBOND records of the disulfide bridges. */
function bridgeLines(text: Buffer, atoms: readonly number[]): string[] {
  const sulfurs = atoms
    .filter((at) => text[at + 13] === LETTER_S && text[at + 14] === LETTER_G)
    .map((at) => text.toString('latin1', at, findLineEnd(text, at)))
    .filter((line) => line.startsWith(' SG  CYS ', 12));
  if (sulfurs.length < 2) return [];
  const { residues } = parsePdb(sulfurs.join('\n'));
  const records: string[] = [];
  for (const [k, a] of residues.entries())
    for (const b of residues.slice(k + 1)) {
      const [[one], [two]] = [a.atoms, b.atoms];
      if (one === undefined || two === undefined) continue;
      const distance = distanceBetween(one, two);
      if (isBondLength(one, two, distance)) records.push(bridgeRecord(records.length + 1, a, b, distance));
    }
  return records;
}

const scoreLine = (name: string, value: number | null): string[] =>
  value === null ? [] : [`REMARK   1 ${name} ${Number(value.toFixed(4))}`];

/** TER of a last chain that has none. */
function chainEnd(text: Buffer, at: number | undefined): string[] {
  const atom = at === undefined ? '' : text.toString('latin1', at, at + 27);
  if (!atom.startsWith('ATOM')) return [];
  const serial = (Number(atom.slice(6, 11)) + 1) % 100_000;
  return [`TER   ${String(serial).padStart(5)}      ${atom.slice(17, 27)}`];
}

/** The PDB file of a structure. @param text - of the service; nothing writes to it */
export function writeAtlasPdb(text: Buffer, { hash, ptm, meanPlddt, unit }: AtlasPdb): string {
  const head = readHead(text);
  const { atoms, openEnd, records, end } = readCoordinates(text, head.end);
  const hasOtherScale = isInPercent(text, atoms) !== (unit === 'PERCENT');
  const first = [
    HEADER,
    `TITLE     PROTEIN ${hash}`,
    ...scoreLine('ptm', ptm),
    ...scoreLine('mean_plddt', meanPlddt !== null && unit === 'PERCENT' ? meanPlddt * 100 : meanPlddt),
    ...(hasOtherScale ? head.lines.map((line) => scaleRemark(line, unit)) : head.lines).flatMap(wrapRemark),
    ...bridgeLines(text, atoms),
    NO_CELL,
  ];
  const body = (hasOtherScale ? scaleBFactors(text, atoms, unit) : text).subarray(head.end, end);
  const last = chainEnd(text, openEnd);
  const lines = [...first, ...records, ...last];
  const count = (record: string): number => lines.filter((line) => line.startsWith(record)).length;
  last.push(
    ...endRecords({
      remarks: count('REMARK'),
      atoms: atoms.length,
      chainEnds: count('TER'),
      bonds: count('CONECT'),
      sequences: count('SEQRES'),
    }),
  );
  const gap = body.length === 0 || body.at(-1) === NEWLINE ? '' : '\n';
  return toPdbLines(first) + decodeText(body) + gap + toPdbLines(last);
}
