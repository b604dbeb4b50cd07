// Reads what the members of a bulk archive say of one protein: sequence, structure with its scores,
// sparse activations.
import { z } from 'zod';
import { type LazyText, lazyText } from '../../structure/lazy-text.ts';
import { hasAtoms, parsePdb } from '../../structure/pdb.ts';
import { isFields } from '../json/is-fields.ts';
import { isFeatureIndex, meanPlddt, share } from '../wire-values.ts';
import { ArchiveError } from './archive-limits.ts';
import type { PackedText } from './packed-text.ts';

/** One sequence of `sequences.fasta`. */
export interface BulkSequence {
  readonly sequence: string;
  readonly accession: string | null;
  readonly source: string | null;
}

/** Protein-level activations: `values[i]` is that of feature `indices[i]`; all others are 0. */
export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

/**
 * Per-residue activations: `values[i]` is that of feature `features[i]` at residue `residues[i]`
 * (0-based).
 */
export interface SparseMatrix {
  readonly residues: readonly number[];
  readonly features: readonly number[];
  readonly values: readonly number[];
}

/** A field as a string of its own: a slice of the file, once cached, would hold all of it in memory. */
const text = (field: string | undefined): string | null => {
  const trimmed = field?.trim() ?? '';
  return trimmed === '' ? null : Buffer.from(trimmed).toString();
};

/** Reads `>{hash}|{accession}|{source}` records with sequences on one or more lines. */
export function* readFasta(fasta: string): Generator<[hash: string, record: BulkSequence]> {
  for (const record of fasta.split(/^>/m).slice(1)) {
    const lineEnd = record.indexOf('\n');
    const headerEnd = lineEnd === -1 ? record.length : lineEnd;
    const [hash = '', accession, source] = record.slice(0, headerEnd).split('|', 3);
    const sequence = record.slice(headerEnd).replace(/[\s*]/g, '').toUpperCase();
    yield [hash.trim().toLowerCase(), { sequence, accession: text(accession), source: text(source) }];
  }
}

const PTM = /^REMARK +(?:\d+ +)?ptm[ :=]+([-+.\deE]+) *\r?$/m;
const MEAN_PLDDT = /^REMARK +(?:\d+ +)?mean_plddt[ :=]+([-+.\deE]+) *\r?$/m;

function remark(pdb: string, pattern: RegExp): number | null {
  const value = Number(pattern.exec(pdb)?.[1] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}

/** The confidences that stand in the B-factors of a PDB text, on 0 to 1. */
export function readResidues(pdb: string) {
  const { residues } = parsePdb(pdb);
  const written = residues.map(({ confidence }) => confidence);
  const percent = written.some((b) => b !== null && b > 1);
  const plddt = percent ? written.map((b) => (b === null ? null : b / 100)) : written;
  const known = plddt.filter((b) => b !== null);
  const mean = known.length === 0 ? null : known.reduce((sum, b) => sum + b, 0) / known.length;
  return { plddt, mean };
}

const scores = z.object({ ptm: share, mean_plddt: meanPlddt });

/** @throws ArchiveError for a score outside its range */
function readScores(remarks: string) {
  const given = { ptm: remark(remarks, PTM), mean_plddt: remark(remarks, MEAN_PLDDT) };
  const { data, error } = scores.safeParse(given);
  if (error !== undefined) throw new ArchiveError(`A score is out of range: ${error.issues[0]?.message}.`);
  return { ptm: data.ptm ?? null, mean: data.mean_plddt ?? null };
}

/**
 * One `structures/{hash}.pdb`, read lazily; pLDDT on 0 to 1, one value a residue. A mean that the
 * file does not state is that of the residues. Parsing the atoms takes ten times as long as unpacking
 * them. The text stays packed: the garbage collector would otherwise move the text of 500 structures
 * around while the answer is written. A class: an archive has hundreds, and an object with own
 * getters and closures is slow to create.
 */
export class BulkStructure {
  /** Bytes of the text. */
  readonly size: number;
  /** Bytes that are held of it: compressed where it came so. */
  readonly heldBytes: number;
  /** Whether the text has the remark with the pTM. */
  readonly statesPtm: boolean;
  readonly ptm: number | null;
  readonly statedMean: number | null;
  /** Whether there is more than remarks. */
  readonly hasAtoms: boolean;
  private readonly text: PackedText;
  private ofResidues: ReturnType<typeof readResidues> | undefined;

  /** @throws ArchiveError for a score outside its range */
  constructor(text: PackedText) {
    this.size = text.size;
    this.heldBytes = text.heldBytes;
    const remarks = text.before('\nATOM');
    this.hasAtoms = remarks.length < text.size || hasAtoms(remarks);
    this.statesPtm = remarks.includes(' ptm');
    const { ptm, mean } = readScores(remarks);
    this.ptm = ptm;
    this.statedMean = mean;
    this.text = text;
  }
  /** The text, unpacked where it is written. */
  file(): LazyText {
    return lazyText(this.text);
  }
  /** The same, unpacked when it is read. */
  get pdb(): string {
    return this.text.read();
  }
  get meanPlddt(): number | null {
    return this.statedMean ?? this.residues().mean;
  }
  get plddt() {
    return this.residues().plddt;
  }
  /** What the text states, in the words of a record: the rest is read from its atoms when it is needed. */
  toJSON() {
    const { pdb, ptm, statedMean } = this;
    return { pdb, ptm, ...(statedMean === null ? {} : { mean_plddt: statedMean }) };
  }
  private residues() {
    this.ofResidues ??= readResidues(this.pdb);
    return this.ofResidues;
  }
}

const isNumbers = (list: unknown[]): list is number[] => list.every(Number.isFinite);

/** A list of numbers, null (NaN on the wire) and infinities read as 0; undefined for anything else. */
function numbers(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  // The usual case. The array was just parsed, and copying it is a third of the cost of reading
  // features.
  if (isNumbers(value)) return value;
  const list: number[] = [];
  for (const item of value as unknown[]) {
    if (typeof item !== 'number' && item !== null) return undefined;
    list.push(Number.isFinite(item) ? Number(item) : 0);
  }
  return list;
}

/** Reads protein-level activations; undefined for anything else. */
export function readVector(value: unknown): SparseVector | undefined {
  if (!isFields(value)) return undefined;
  // Indices come flat or as the one row of a list.
  const { indices: given, values } = value;
  const row: unknown =
    Array.isArray(given) && given.length === 1 && Array.isArray(given[0]) ? given[0] : given;
  const [indices, list] = [numbers(row), numbers(values)];
  if (indices === undefined || list === undefined || indices.length !== list.length) return undefined;
  return indices.every(isFeatureIndex) ? { indices, values: list } : undefined;
}

/** Reads per-residue activations; undefined for anything else. */
export function readMatrix(value: unknown): SparseMatrix | undefined {
  if (!isFields(value) || !Array.isArray(value.indices)) return undefined;
  const [residues, features, values] = [
    numbers(value.indices[0]),
    numbers(value.indices[1]),
    numbers(value.values),
  ];
  if (residues === undefined || features === undefined || values === undefined) return undefined;
  const isEven = residues.length === values.length && features.length === values.length;
  return isEven && features.every(isFeatureIndex) ? { residues, features, values } : undefined;
}
