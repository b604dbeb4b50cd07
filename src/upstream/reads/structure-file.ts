// An Atlas structure as a file: the upstream's PDB text, rescaled, or written as mmCIF.
import { type LazyText, lazyText } from '../../structure/lazy-text.ts';
import { parsePdb } from '../../structure/pdb.ts';
import { pdbToMmcif } from '../../structure/pdb-to-mmcif.ts';
import { type PlddtUnit, scalePlddtInPdb } from '../../structure/plddt-scale.ts';
import { UpstreamError } from '../errors.ts';
import type { StructureData } from '../proteins/protein-data.ts';

export const FILE_ENDINGS = { PDB: 'pdb', MMCIF: 'cif' } as const;

export interface AtlasStructure {
  readonly hash: string;
  readonly format: keyof typeof FILE_ENDINGS;
  /** Scale of pLDDT; undefined leaves the upstream's PDB text as it is. */
  readonly unit: PlddtUnit | undefined;
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

/** The PDB text on a scale. */
function pdbText(structure: Pick<StructureData, 'pdb' | 'file'>, unit: PlddtUnit): string {
  const bytes = structure.file?.().bytes() ?? Buffer.from(structure.pdb);
  return Buffer.from(scalePlddtInPdb(bytes, unit)).toString();
}

/** The same; where it is packed, it is unpacked and rescaled when it is written. */
function pdbFile(structure: Pick<StructureData, 'pdb' | 'file'>, unit: PlddtUnit): string | LazyText {
  const packed = structure.file?.();
  if (packed === undefined) return pdbText(structure, unit);
  return lazyText({ size: packed.size, bytes: () => scalePlddtInPdb(packed.bytes(), unit) });
}

/**
 * The text of the file and the number of its atoms, which is counted lazily.
 *
 * @param structure - the PDB text, possibly packed
 * @throws UpstreamError UPSTREAM_DRIFT when the text holds no atom
 */
export function atlasStructure(
  structure: Pick<StructureData, 'pdb' | 'file'>,
  { hash, format, unit }: AtlasStructure,
): { readonly text: string | LazyText; readonly atomCount: number } {
  if (format === 'PDB')
    return new PdbFile(
      unit === undefined ? (structure.file?.() ?? structure.pdb) : pdbFile(structure, unit),
      structure,
    );
  // The service writes 0 to 1.
  const plddtUnit = unit ?? 'UNIT';
  const file = pdbToMmcif(pdbText(structure, plddtUnit), { id: hash, plddtUnit });
  if (file.ok) return { text: file.text, atomCount: file.atomCount };
  throw new UpstreamError(`The structure that the upstream gave cannot be read: ${file.reason}`, {
    operation: 'protein',
    code: 'UPSTREAM_DRIFT',
    retryable: false,
  });
}
