// Writes the pLDDT of PDB text on one scale: B-factor columns, and the remarks that name the
// scale. Works on bytes, in the columns, because lists have hundreds of structures.

/** 0 to 100, or 0 to 1. */
export type PlddtUnit = 'PERCENT' | 'UNIT';

const [NEWLINE, SPACE, POINT, ZERO] = [0x0a, 0x20, 0x2e, 0x30];
/** First column of the B-factor, 0-based, and its width. */
const [B_FACTOR, WIDTH] = [60, 6];
const ATOM = Buffer.from('ATOM  ');
const HETATM = Buffer.from('HETATM');
const REMARK = Buffer.from('REMARK');

const startsWith = (text: Uint8Array, start: number, word: Uint8Array): boolean => {
  for (let i = 0; i < word.length; i += 1) if (text[start + i] !== word[i]) return false;
  return true;
};

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

const readColumn = (pdb: Buffer, at: number): number =>
  Number.parseFloat(pdb.toString('latin1', at, at + WIDTH));

/** Writes a number, right-justified, if it fits. */
function writeColumn(pdb: Buffer, at: number, value: number, decimals: number): void {
  const text = value.toFixed(decimals).padStart(WIDTH);
  if (text.length === WIDTH) pdb.write(text, at, 'latin1');
}

/** Changes the scale that a remark names. */
const scaleRemark = (line: string, unit: PlddtUnit): string =>
  unit === 'PERCENT'
    ? line.replace(/\b0 (to) 1\b(?!\.\d)/i, '0 $1 100')
    : line.replace(/\b0 (to) 100\b/i, '0 $1 1');

const isAtom = (pdb: Uint8Array, start: number): boolean =>
  startsWith(pdb, start, ATOM) || startsWith(pdb, start, HETATM);

/** Where a line ends: at its line feed, or at the end of the text. */
function findLineEnd(pdb: Buffer, start: number): number {
  const end = pdb.indexOf(NEWLINE, start);
  return end === -1 ? pdb.length : end;
}

/** Whether a confidence above 1 shows that the text has them on 0 to 100. */
function isInPercent(pdb: Buffer): boolean {
  for (let start = 0, end = 0; start < pdb.length; start = end + 1) {
    end = findLineEnd(pdb, start);
    const at = start + B_FACTOR;
    if (end < at + WIDTH || !isAtom(pdb, start) || isPlain(pdb, at)) continue;
    if (readColumn(pdb, at) > 1) return true;
  }
  return false;
}

/** The text with pLDDT on a scale; the same bytes where it has that scale already. */
export function scalePlddtInPdb(pdb: Uint8Array, unit: PlddtUnit): Uint8Array {
  const [factor, decimals] = unit === 'PERCENT' ? [100, 2] : [0.01, 4];
  const given = Buffer.from(pdb.buffer, pdb.byteOffset, pdb.byteLength);
  if (unit === 'UNIT' && !isInPercent(given)) return pdb;
  const scaled = Buffer.from(given);
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (let start = 0, end = 0; start < scaled.length; start = end + 1) {
    end = findLineEnd(scaled, start);
    if (isAtom(scaled, start)) {
      const at = start + B_FACTOR;
      if (end < at + WIDTH) continue;
      if (unit === 'PERCENT' && isPlain(scaled, at)) {
        writePlainAsPercent(scaled, at);
        continue;
      }
      const b = readColumn(scaled, at);
      if (b > 1 && unit === 'PERCENT') return pdb;
      if (Number.isFinite(b)) writeColumn(scaled, at, b * factor, decimals);
    } else if (startsWith(scaled, start, REMARK)) {
      const line = scaled.toString('utf8', start, end);
      const next = scaleRemark(line, unit);
      if (next === line) continue;
      parts.push(scaled.subarray(copied, start), Buffer.from(next));
      copied = end;
    }
  }
  return parts.length === 0 ? scaled : Buffer.concat([...parts, scaled.subarray(copied)]);
}
