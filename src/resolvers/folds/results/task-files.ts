// The files of a folded task, in one table: how each is called and described, and how it is written
// from the result. `FoldResult.files`, the routes of files and the archive of a batch read it.
import { writeConfidences, writePae, writeSummary } from '../../../structure/fold/confidence-files.ts';
import type { DeclaredBond } from '../../../structure/fold/declared-bonds.ts';
import { openFoldFile, writeMmcifWithPae } from '../../../structure/fold/files.ts';
import { npz } from '../../../structure/fold/npz.ts';
import type { FoldingResult } from '../../../structure/fold/result.ts';
import { UpstreamError } from '../../../upstream/errors.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';

/** Bytes, or pieces of text. */
export type FileContent = Uint8Array | Iterable<string>;

/** Writes a file, or says in a sentence why the result has no such file. */
type FileWriter = (() => FileContent | Promise<FileContent>) | string;

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
  /** The suffix after the name of the item, as AlphaFold 3 writes it. */
  readonly suffix?: string;
  /** Whether it is sent while it is written: such a file has no ranges. */
  readonly isStreamed?: boolean;
  /** Whether the archive of a batch holds it. */
  readonly isArchived?: boolean;
  /**
   * Opens the file; absent for the result itself.
   *
   * @throws UpstreamError UPSTREAM_DRIFT when what it holds cannot be trusted
   */
  readonly open?: (fold: FoldingResult, options: WriteOptions) => FileWriter;
}

const toWriter = (
  written: { readonly ok: true; readonly pieces: Iterable<string> } | { readonly ok: false; reason: string },
): FileWriter => (written.ok ? () => written.pieces : written.reason);

function openStructure(fold: FoldingResult, format: 'PDB' | 'MMCIF', { bonds }: WriteOptions): FileWriter {
  const file = checkPart(openFoldFile(fold, format, bonds), fold.misfits.structure);
  if (file.ok) return () => new TextEncoder().encode(file.write().text);
  return format === 'PDB' ? `${file.reason} structure.cif holds it.` : file.reason;
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
    open(fold, options) {
      if (options.isWithPae !== true) return openStructure(fold, 'MMCIF', options);
      const checked = checkPart(fold, fold.misfits.pae ?? fold.misfits.structure);
      return toWriter(writeMmcifWithPae(checked, options.bonds));
    },
  },
  {
    name: 'structure.pdb',
    summary: 'The structure of a fold as PDB',
    type: 'chemical/x-pdb',
    open: (fold, options) => openStructure(fold, 'PDB', options),
  },
  {
    name: 'confidences.json',
    summary: 'Confidences of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_confidences',
    isStreamed: true,
    isArchived: true,
    open: (fold) => toWriter(writeConfidences(checkPart(checkPae(fold), fold.misfits.structure))),
  },
  {
    name: 'summary_confidences.json',
    summary: 'Scores of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_summary_confidences',
    isArchived: true,
    open(fold) {
      const checked = checkPart(checkPae(fold), fold.misfits.chainPairs);
      return () => new TextEncoder().encode(writeSummary(checked));
    },
  },
  {
    name: 'pae.json',
    summary: 'The PAE of a fold of one chain as AlphaFold DB has it',
    type: 'application/json',
    suffix: '_pae',
    isStreamed: true,
    isArchived: true,
    open: (fold) => toWriter(writePae(checkPae(fold))),
  },
  {
    name: 'embeddings.npz',
    summary: 'The embeddings of a fold as NumPy arrays',
    type: 'application/zip',
    open({ misfits, embeddings }) {
      if (misfits.embeddings !== null) return `${misfits.embeddings} result.json holds them as they came.`;
      if (embeddings === null) return 'The result has no embeddings; they are made with includeEmbeddings.';
      const { sequence, pair } = embeddings;
      return () => npz({ ...(sequence && { sequence }), ...(pair && { pair_pooled: pair }) });
    },
  },
];

function isThere({ open }: TaskFile, fold: FoldingResult): boolean {
  try {
    return typeof open?.(fold, { bonds: [] }) !== 'string';
  } catch (error) {
    if (error instanceof UpstreamError) return false;
    throw error;
  }
}

/** The files that a result has: those whose addresses answer. */
export const listFiles = (fold: FoldingResult): readonly TaskFile[] =>
  TASK_FILES.filter((file) => isThere(file, fold));

/** The path of a file of a task at the gateway. */
export const taskFilePath = (taskId: string, file: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/${file}`;
