// The end of the PDB files of the Atlas: TER, MASTER and END, which the service leaves out.
import { endRecords, toPdbLines } from './pdb-records.ts';

const NEWLINE = 0x0a;
const [LETTER_A, LETTER_R, LETTER_T] = [0x41, 0x52, 0x54];

/** Counts the records of a text up to its end, in one pass over the first letters of its lines. */
function countRecords(text: Buffer) {
  const found = {
    remarks: 0,
    atoms: 0,
    chainEnds: 0,
    bonds: 0,
    sequences: 0,
    lastAtom: -1,
    end: text.length,
  };
  for (let at = 0, next = 0; at < text.length; at = next) {
    const newline = text.indexOf(NEWLINE, at);
    next = newline === -1 ? text.length : newline + 1;
    const letter = text[at];
    if (letter === LETTER_A && text[at + 1] === LETTER_T) {
      found.atoms += 1;
      found.lastAtom = at;
      continue;
    }
    const record = text.toString('latin1', at, Math.min(next, at + 6)).trimEnd();
    if (letter === LETTER_R) found.remarks += 1;
    else if (record === 'HETATM') {
      found.atoms += 1;
      found.lastAtom = at;
    } else if (record === 'CONECT') found.bonds += 1;
    else if (record === 'SEQRES') found.sequences += 1;
    else if (record === 'TER') {
      found.chainEnds += 1;
      found.lastAtom = -1;
    } else if (record === 'MASTER' || record === 'END') {
      found.end = at;
      break;
    }
  }
  return found;
}

/** TER of a last chain that has none. */
function chainEnd(text: Buffer, at: number): string[] {
  const atom = at === -1 ? '' : text.toString('latin1', at, at + 27);
  if (!atom.startsWith('ATOM')) return [];
  const serial = (Number(atom.slice(6, 11)) + 1) % 100_000;
  return [`TER   ${String(serial).padStart(5)}      ${atom.slice(17, 27)}`];
}

/** The PDB text with all that ends a file. @param pdb - with its head */
export function writePdbEnd(pdb: Uint8Array): Uint8Array {
  const text = Buffer.from(pdb.buffer, pdb.byteOffset, pdb.byteLength);
  const counts = countRecords(text);
  const ter = chainEnd(text, counts.lastAtom);
  const records = [...ter, ...endRecords({ ...counts, chainEnds: counts.chainEnds + ter.length })];
  const body = text.subarray(0, counts.end);
  const gap = body.at(-1) === NEWLINE ? '' : '\n';
  return Buffer.concat([body, Buffer.from(gap + toPdbLines(records))]);
}
