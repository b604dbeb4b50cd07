// Brings the pLDDT of PDB text to another scale: B-factor columns, and the remarks that name the
// scale. Works on bytes, in the columns, because lists have hundreds of structures.

/** 0 to 100, or 0 to 1. */
export type PlddtUnit = 'PERCENT' | 'UNIT';

const [SPACE, POINT, ZERO] = [0x20, 0x2e, 0x30];
/** First column of the B-factor, 0-based, and its width. */
const [B_FACTOR, WIDTH] = [60, 6];

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9;

/** Whether a column reads `  0.87`, as nearly every confidence of the service does. */
function isPlain(pdb: Uint8Array, at: number): boolean {
  if (pdb[at] !== SPACE || pdb[at + 1] !== SPACE || pdb[at + 2] !== ZERO || pdb[at + 3] !== POINT)
    return false;
  return isDigit(pdb[at + 4] ?? 0) && isDigit(pdb[at + 5] ?? 0);
}

/** Brings `  0.87` to ` 87.00` by its digits. */
function writePlainAsPercent(pdb: Uint8Array, at: number): void {
  const [tens = ZERO, ones = ZERO] = [pdb[at + 4], pdb[at + 5]];
  pdb[at + 1] = tens === ZERO ? SPACE : tens;
  pdb[at + 2] = ones;
  pdb[at + 4] = ZERO;
  pdb[at + 5] = ZERO;
}

/** The number of a column; NaN where the line ends before it does. */
function readColumn(pdb: Buffer, at: number): number {
  const column = pdb.toString('latin1', at, at + WIDTH);
  return column.length < WIDTH || column.includes('\n') ? Number.NaN : Number.parseFloat(column);
}

/** Writes a number, right-justified, if it fits. */
function writeColumn(pdb: Buffer, at: number, value: number, decimals: number): void {
  const text = value.toFixed(decimals).padStart(WIDTH);
  if (text.length === WIDTH) pdb.write(text, at, 'latin1');
}

/** Changes the scale that a remark names. */
export const scaleRemark = (line: string, unit: PlddtUnit): string =>
  unit === 'PERCENT'
    ? line.replace(/\b0 (to) 1\b(?!\.\d)/i, '0 $1 100')
    : line.replace(/\b0 (to) 100\b/i, '0 $1 1');

/**
 * Whether a confidence above 1 shows that a text has them on 0 to 100.
 *
 * @param atoms - where the lines of its atoms begin
 */
export const isInPercent = (pdb: Buffer, atoms: readonly number[]): boolean =>
  atoms.some((at) => !isPlain(pdb, at + B_FACTOR) && readColumn(pdb, at + B_FACTOR) > 1);

/**
 * A copy of a text with its B-factors on another scale. @param atoms - as in {@link isInPercent}
 */
export function scaleBFactors(pdb: Buffer, atoms: readonly number[], unit: PlddtUnit): Buffer {
  const [factor, decimals] = unit === 'PERCENT' ? [100, 2] : [0.01, 4];
  const scaled = Buffer.from(pdb);
  for (const line of atoms) {
    const at = line + B_FACTOR;
    if (unit === 'PERCENT' && isPlain(scaled, at)) writePlainAsPercent(scaled, at);
    else {
      const b = readColumn(scaled, at);
      if (Number.isFinite(b)) writeColumn(scaled, at, b * factor, decimals);
    }
  }
  return scaled;
}
