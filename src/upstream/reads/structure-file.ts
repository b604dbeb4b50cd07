// An Atlas structure as a file: the upstream's PDB text, rescaled, or written as mmCIF.
import type { LazyText } from '../../structure/lazy-text.ts';
import { isInPercent, parsePdb } from '../../structure/pdb.ts';
import { pdbToMmcif, scalePdbBFactors } from '../../structure/pdb-to-mmcif.ts';
import { UpstreamError } from '../errors.ts';
import type { StructureData } from '../proteins/protein-data.ts';

export const FILE_ENDINGS = { PDB: 'pdb', MMCIF: 'cif' } as const;

export interface AtlasStructure {
  readonly hash: string;
  readonly format: keyof typeof FILE_ENDINGS;
  /** Write B-factors on 0 to 100 instead of the upstream's own scale. */
  readonly percent: boolean;
}

/**
 * A class: V8 would retain an object with its own getter, and the text, until the next full
 * collection.
 */
class PdbFile {
  readonly text: string | LazyText;
  private readonly structure: Pick<StructureData, 'pdb'>;

  constructor(text: string | LazyText, structure: Pick<StructureData, 'pdb'>) {
    this.text = text;
    this.structure = structure;
  }
  get atomCount(): number {
    return parsePdb(this.structure.pdb).atomCount;
  }
}

/**
 * The text of the file and the number of its atoms, which is counted lazily.
 *
 * @param structure - the PDB text, possibly packed
 * @throws UpstreamError UPSTREAM_DRIFT when the text holds no atom
 */
export function atlasStructure(
  structure: Pick<StructureData, 'pdb' | 'file'>,
  { hash, format, percent }: AtlasStructure,
): { readonly text: string | LazyText; readonly atomCount: number } {
  const factor = percent && !isInPercent(structure.pdb) ? 100 : 1;
  if (format === 'PDB') {
    return new PdbFile(
      factor !== 1 ? scalePdbBFactors(structure.pdb, factor) : (structure.file?.() ?? structure.pdb),
      structure,
    );
  }
  const file = pdbToMmcif(structure.pdb, { id: hash, factor });
  if (file.ok) return { text: file.text, atomCount: file.atomCount };
  throw new UpstreamError(`The structure that the upstream gave cannot be read: ${file.reason}`, {
    operation: 'protein',
    code: 'UPSTREAM_DRIFT',
    retryable: false,
  });
}
