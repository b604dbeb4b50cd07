// The files of a folded task, in one table: how each is called and described, and how it is written
// from the result. `FoldResult.files`, the routes of files and the archive of a batch read it.
import { writeConfidences, writePae, writeSummary } from '../../../structure/fold/confidence-files.ts';
import type { DeclaredBond } from '../../../structure/fold/declared-bonds.ts';
import { writeFoldFile, writeMmcifWithPae } from '../../../structure/fold/files.ts';
import { npz } from '../../../structure/fold/npz.ts';
import type { FoldingResult } from '../../../structure/fold/result.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';

/** Bytes, pieces of text, or a sentence that says why the result has no such file. */
export type FileContent = Uint8Array | Iterable<string> | string;

export interface WriteOptions {
  /** Bonds that the submission declares. */
  readonly bonds: readonly DeclaredBond[];
  /** Whether mmCIF gets the PAE of each pair of residues. */
  readonly isWithPae?: boolean;
}

/** A kind of file. */
export interface TaskFile {
  /** The last part of its path. */
  readonly name: string;
  readonly summary: string;
  /** Media type. */
  readonly type: string;
  /** What is put behind the name of the item, as AlphaFold 3 does. */
  readonly suffix?: string;
  /** Whether it is sent while it is written: such a file has no ranges. */
  readonly isStreamed?: boolean;
  /** Whether the archive of a batch holds it. */
  readonly isArchived?: boolean;
  /**
   * Writes the file; absent for the result itself.
   *
   * @throws UpstreamError UPSTREAM_DRIFT when what it holds cannot be trusted
   */
  readonly write?: (fold: FoldingResult, options: WriteOptions) => FileContent | Promise<FileContent>;
}

const toContent = (
  written: { readonly ok: true; readonly pieces: Iterable<string> } | { readonly ok: false; reason: string },
): FileContent => (written.ok ? written.pieces : written.reason);

function writeStructure(fold: FoldingResult, format: 'PDB' | 'MMCIF', { bonds }: WriteOptions): FileContent {
  const written = checkPart(writeFoldFile(fold, format, bonds), fold.misfits.structure);
  if (written.ok) return new TextEncoder().encode(written.text);
  return format === 'PDB' ? `${written.reason} structure.cif holds it.` : written.reason;
}

const checkPae = (fold: FoldingResult): FoldingResult =>
  checkPart(fold, fold.misfits.pae ?? fold.misfits.chains);

/** The files of a folded task, in the order in which they are listed. */
export const TASK_FILES: readonly TaskFile[] = [
  {
    name: 'result.json',
    summary: 'The result of a fold as the service sends it',
    type: 'application/json',
    isArchived: true,
  },
  {
    name: 'structure.cif',
    summary: 'The structure of a fold as mmCIF',
    type: 'chemical/x-mmcif',
    isArchived: true,
    write(fold, options) {
      if (options.isWithPae !== true) return writeStructure(fold, 'MMCIF', options);
      const checked = checkPart(fold, fold.misfits.pae ?? fold.misfits.structure);
      return toContent(writeMmcifWithPae(checked, options.bonds));
    },
  },
  {
    name: 'structure.pdb',
    summary: 'The structure of a fold as PDB',
    type: 'chemical/x-pdb',
    write: (fold, options) => writeStructure(fold, 'PDB', options),
  },
  {
    name: 'confidences.json',
    summary: 'Confidences of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_confidences',
    isStreamed: true,
    isArchived: true,
    write: (fold) => toContent(writeConfidences(checkPart(checkPae(fold), fold.misfits.structure))),
  },
  {
    name: 'summary_confidences.json',
    summary: 'Scores of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_summary_confidences',
    isArchived: true,
    write: (fold) =>
      new TextEncoder().encode(writeSummary(checkPart(checkPae(fold), fold.misfits.chainPairs))),
  },
  {
    name: 'pae.json',
    summary: 'The PAE of a fold of one chain as AlphaFold DB has it',
    type: 'application/json',
    suffix: '_pae',
    isStreamed: true,
    isArchived: true,
    write: (fold) => toContent(writePae(checkPae(fold))),
  },
  {
    name: 'embeddings.npz',
    summary: 'The embeddings of a fold as NumPy arrays',
    type: 'application/zip',
    write({ misfits, embeddings }) {
      if (misfits.embeddings !== null) return `${misfits.embeddings} result.json holds them as they came.`;
      if (embeddings === null) return 'The result has no embeddings; they are made with includeEmbeddings.';
      const { sequence, pair } = embeddings;
      return npz({ ...(sequence && { sequence }), ...(pair && { pair_pooled: pair }) });
    },
  },
];

/** The path of a file of a task at the gateway. */
export const taskFilePath = (taskId: string, file: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/${file}`;
