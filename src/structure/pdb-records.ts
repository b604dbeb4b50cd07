// Records of the PDB format (version 3.3) that both our own files and those of the Atlas get.
// https://www.wwpdb.org/documentation/file-format-content/format33/v3.3.html

/** Length of every record. */
const COLUMNS = 80;

export const toPdbLines = (records: readonly string[]): string =>
  records.map((record) => `${record.padEnd(COLUMNS)}\n`).join('');

/** Lines of text for records, of at most 69 characters, cut at spaces where there are any. */
export const wrapText = (text: string): string[] =>
  (text.replace(/[^\n\x20-\x7e]/gu, '?').match(/[^\n]{1,69}(?: |$)|[^\n]{1,69}/gm) ?? []).map((line) =>
    line.trimEnd(),
  );

/** Cuts a remark of the service that is longer than a record. */
export function wrapRemark(record: string): string[] {
  const [start] = /^REMARK(?: +\d{1,3})? /.exec(record) ?? [];
  if (record.length <= COLUMNS || start === undefined) return [record];
  return wrapText(record.slice(start.length)).map((line) => start + line);
}

/** DSSP and others take a file for PDB only if it begins with this record. */
export const HEADER = 'HEADER    COMPUTED MODEL';

/** A model has no unit cell: the format wants one of 1 Å. */
export const NO_CELL = 'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1';

const IDENTITY = '1555'.padStart(6);

/** The end of SSBOND and LINK: no symmetry operator, and the length, ångström in five columns. */
const bondColumns = (record: string, distance: number): string =>
  `${record.padEnd(59)}${IDENTITY} ${IDENTITY} ${distance.toFixed(2).slice(0, 5).padStart(5)}`;

interface PdbResidueId {
  readonly chain: string;
  readonly number: number;
  readonly insertion: string;
}

/**
 * Columns that name a residue: chain, number, insertion code.
 *
 * @param gap - between chain and number
 */
export const residueColumns = ({ chain, number, insertion }: PdbResidueId, gap = ''): string =>
  `${chain}${gap}${String(number).padStart(4)}${insertion.padEnd(1)}`;

export const bridgeRecord = (serial: number, a: PdbResidueId, b: PdbResidueId, distance: number): string =>
  bondColumns(
    `SSBOND ${String(serial).padStart(3)} CYS ${residueColumns(a, ' ')}   CYS ${residueColumns(b, ' ')}`,
    distance,
  );

/** One end of a LINK. */
export interface LinkPartner extends PdbResidueId {
  /** The four columns of the atom's name. */
  readonly atomColumns: string;
  readonly component: string;
}

export const linkRecord = (a: LinkPartner, b: LinkPartner, distance: number): string => {
  const [one, two] = [a, b].map(
    (end) => `${end.atomColumns} ${end.component.padStart(3)} ${residueColumns(end)}`,
  );
  return bondColumns(`LINK        ${one}${' '.repeat(15)}${two}`, distance);
};

interface RecordCounts {
  readonly remarks: number;
  readonly atoms: number;
  readonly chainEnds: number;
  readonly bonds: number;
  readonly sequences: number;
}

/** MASTER, which counts the records before it, and END. */
export function endRecords({ remarks, atoms, chainEnds, bonds, sequences }: RecordCounts): string[] {
  const counts = [remarks, 0, 0, 0, 0, 0, 0, 0, atoms, chainEnds, bonds, sequences];
  return [`MASTER    ${counts.map((count) => String(count).padStart(5)).join('')}`, 'END'];
}
