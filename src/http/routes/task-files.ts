// The files of a folded task: how each is described, and how it is written from the result.
import { TASK_FILES } from '../../resolvers/folds/task-shape.ts';
import { writeConfidences, writePae, writeSummary } from '../../structure/fold/confidence-files.ts';
import type { DeclaredBond } from '../../structure/fold/declared-bonds.ts';
import { writeFoldFile, writeMmcifWithPae } from '../../structure/fold/files.ts';
import type { FoldingResult } from '../../structure/fold/result.ts';
import { checkPart } from '../../upstream/folds/fold-errors.ts';
import { NO_LINK, NOT_MODIFIED, type Parameter, RANGES, type RouteDescription } from './description.ts';
import { npz } from './npz.ts';

export type TaskFileName = (typeof TASK_FILES)[number];

/** Bytes, pieces of text, or a sentence when the result cannot be written so. */
type FileContent = Uint8Array | Iterable<string> | string;

interface WriteOptions {
  readonly bonds: readonly DeclaredBond[];
  /** Whether mmCIF gets the PAE of each pair of residues. */
  readonly isWithPae: boolean;
}

/** A kind of file. */
export interface TaskFile {
  readonly summary: string;
  /** Media type. */
  readonly type: string;
  /** What is put behind the name of the item, as AlphaFold 3 does. */
  readonly suffix?: string;
  /** Whether it is sent while it is written: such a file has no ranges. */
  readonly isStreamed?: boolean;
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

/** The files by their names. */
export const FILES: Readonly<Record<TaskFileName, TaskFile>> = {
  'result.json': { summary: 'The result of a fold as the service sends it', type: 'application/json' },
  'structure.cif': {
    summary: 'The structure of a fold as mmCIF',
    type: 'chemical/x-mmcif',
    write(fold, options) {
      if (!options.isWithPae) return writeStructure(fold, 'MMCIF', options);
      const checked = checkPart(fold, fold.misfits.pae ?? fold.misfits.structure);
      return toContent(writeMmcifWithPae(checked, options.bonds));
    },
  },
  'structure.pdb': {
    summary: 'The structure of a fold as PDB',
    type: 'chemical/x-pdb',
    write: (fold, options) => writeStructure(fold, 'PDB', options),
  },
  'confidences.json': {
    summary: 'Confidences of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_confidences',
    isStreamed: true,
    write: (fold) => toContent(writeConfidences(checkPart(checkPae(fold), fold.misfits.structure))),
  },
  'summary_confidences.json': {
    summary: 'Scores of a fold as AlphaFold 3 writes them',
    type: 'application/json',
    suffix: '_summary_confidences',
    write: (fold) =>
      new TextEncoder().encode(writeSummary(checkPart(checkPae(fold), fold.misfits.chainPairs))),
  },
  'pae.json': {
    summary: 'The PAE of a fold of one chain as AlphaFold DB has it',
    type: 'application/json',
    suffix: '_pae',
    isStreamed: true,
    write: (fold) => toContent(writePae(checkPae(fold))),
  },
  'embeddings.npz': {
    summary: 'The embeddings of a fold as NumPy arrays',
    type: 'application/zip',
    write({ misfits, embeddings }) {
      if (misfits.embeddings !== null) return `${misfits.embeddings} result.json holds them as they came.`;
      if (embeddings === null) return 'The result has no embeddings; they are made with includeEmbeddings.';
      const { sequence, pair } = embeddings;
      return npz({ ...(sequence && { sequence }), ...(pair && { pair_pooled: pair }) });
    },
  },
};

const PAE: Parameter = {
  description: 'Adds the PAE of each pair of residues of polymers; such a file has no ranges.',
  example: '1',
  schema: { enum: ['1'] },
};
const NO_RESULT = {
  404: 'There is no such task for this key, or no such file.',
  409: 'There is no result (yet).',
  410: 'The result has expired.',
};

/** Describes the files, with a key and by a signed link. */
export function describeTaskFiles(): Record<string, RouteDescription> {
  const described: Record<string, RouteDescription> = {};
  for (const file of TASK_FILES) {
    const { summary, type, isStreamed } = FILES[file];
    const hasPae = file === 'structure.cif';
    const common = { summary, type, query: hasPae ? { pae: PAE } : {} };
    const wrong = hasPae ? { 400: 'A wrong parameter.' } : {};
    const others = { ...NOT_MODIFIED, ...(isStreamed ? {} : RANGES), ...wrong, ...NO_RESULT };
    described[`/tasks/{taskId}/${file}`] = { ...common, isPrivate: true, others };
    described[`/signed/{signature}/tasks/{taskId}/${file}`] = { ...common, others: { ...wrong, ...NO_LINK } };
  }
  return described;
}
