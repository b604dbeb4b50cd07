// The archive of a batch: results and structures of its finished tasks, the table of scores, and a
// manifest of what is in it.
import { extname } from 'node:path';
import type { GatewayContext } from '../../context.ts';
import { fileNames } from '../../resolvers/folds/results/file-names.ts';
import { TASK_FILES, type TaskFile } from '../../resolvers/folds/results/task-files.ts';
import { roundedScores, type ScoredTask, scoreTable } from '../../resolvers/folds/scores/score-table.ts';
import { isRanked, orderTasks } from '../../resolvers/folds/scores/task-order.ts';
import type { PlacedTask } from '../../resolvers/folds/tasks/all-tasks.ts';
import { loadStatus, loadTaskError } from '../../resolvers/folds/tasks/load-task.ts';
import { findInput, listDeclaredBonds } from '../../resolvers/folds/tasks/task-shape.ts';
import type { TaskErrorShape, TaskOrderName } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';
import type { DeclaredBond } from '../../structure/fold/declared-bonds.ts';
import { createZipWriter } from '../../structure/zip-writer.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { missingResult, untrustedPart } from '../../upstream/folds/fold-errors.ts';
import type { FoldResults, WholeResult } from '../../upstream/folds/fold-results.ts';
import type { Upstream } from '../../upstream/http/call.ts';
import { encodePieces } from './responses.ts';

/** Results that are read ahead of the one that is being written. */
const READ_AHEAD = 1;

/** A task with its name, its place in the input, and the names of its files. */
export type ListedTask = PlacedTask &
  Omit<ScoredTask, keyof PlacedTask | 'scores' | 'problem'> & {
    readonly declaredBonds: readonly DeclaredBond[];
  };

/** The reason of a failure that Status does not give at present. */
function unreadError(cause: unknown, { onFailure }: Upstream): TaskErrorShape {
  if (!(cause instanceof UpstreamError)) throw cause;
  onFailure?.(cause);
  return { code: null, message: `Why it failed cannot be read: ${cause.message}`, raw: null };
}

/** Completes tasks of List for tables and archives. */
export async function listTasks(ctx: GatewayContext, tasks: readonly PlacedTask[]): Promise<ListedTask[]> {
  const named = await Promise.all(
    tasks.map(async (task) => {
      const { item = null, inputIndex = null, repeatIndex = null } = (await findInput(ctx, task)) ?? {};
      const error = await loadTaskError(ctx, task).catch((cause: unknown) =>
        unreadError(cause, ctx.upstream),
      );
      const status = await loadStatus(ctx, task);
      return {
        ...task,
        status,
        error,
        name: item?.name ?? null,
        inputIndex,
        repeatIndex,
        declaredBonds: listDeclaredBonds(item),
      };
    }),
  );
  const files = fileNames(named);
  return named.map((task, i) => ({ ...task, file: task.status === 'DONE' ? (files[i] ?? null) : null }));
}

export const toScored = (task: ListedTask, scores: TaskScores | string | undefined): ScoredTask => ({
  ...task,
  scores: typeof scores === 'object' ? scores : null,
  problem: typeof scores === 'string' ? scores : (task.error?.message ?? null),
});

/** The sources of an archive. */
export interface ArchiveSource extends Pick<Upstream, 'onFailure'> {
  readonly folds: FoldResults;
}

type ArchivedFile = readonly [name: string, content: Uint8Array];

/** A task in the archive. */
interface ArchivedTask {
  readonly task: ListedTask;
  readonly files: readonly ArchivedFile[];
  readonly scores: TaskScores | string | undefined;
  readonly problem: string | null;
}

/** Each kind of confidence file has a folder of its own, so that no names meet. */
const entryName = (itemName: string, { name, suffix }: TaskFile): string =>
  suffix === undefined
    ? `${itemName}${extname(name)}`
    : `${suffix.slice(1)}/${itemName}${suffix}${extname(name)}`;

/**
 * The bytes of a file, or why there is none. @throws UpstreamError for one that cannot be trusted
 */
async function fileBytes(
  { bytes, fold }: WholeResult,
  { open }: TaskFile,
  bonds: readonly DeclaredBond[],
): Promise<Uint8Array | string> {
  const opened = open === undefined ? () => bytes : open(fold, { bonds });
  if (typeof opened === 'string') return opened;
  const content = await opened();
  if (content instanceof Uint8Array) return content;
  const pieces: Uint8Array[] = [];
  for await (const piece of encodePieces(content)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The files of a result, and why the first that should be there is left out. */
async function writeFiles(
  fold: WholeResult,
  itemName: string,
  bonds: readonly DeclaredBond[],
): Promise<Pick<ArchivedTask, 'files' | 'problem'>> {
  const files: ArchivedFile[] = [];
  let problem: string | null = null;
  for (const file of TASK_FILES.filter(({ isArchived }) => isArchived)) {
    try {
      const content = await fileBytes(fold, file, bonds);
      if (typeof content !== 'string') files.push([entryName(itemName, file), content]);
      // Not every result has confidences; a structure is what it is for.
      else if (file.name === 'structure.cif') problem ??= content;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      problem ??= `${error.message} ${file.name} is left out.`;
    }
  }
  return { files, problem };
}

/** Reads the files of a task. Never rejects: the manifest says what failed. */
async function readTask(
  { folds, onFailure }: ArchiveSource,
  task: ListedTask,
  leftOut: ArchiveSelection['leftOut'],
): Promise<ArchivedTask> {
  const { file } = task;
  if (file === null) return { task, files: [], scores: undefined, problem: task.error?.message ?? null };
  const failed = (problem: string): ArchivedTask => ({ task, files: [], scores: problem, problem });
  if (leftOut.has(task.taskId)) {
    const scores = leftOut.get(task.taskId);
    return typeof scores === 'string' ? failed(scores) : { task, files: [], scores, problem: null };
  }
  try {
    const whole = await folds.read(task.taskId);
    if (whole === null) {
      onFailure?.(missingResult());
      return failed('The task is done, and there is no result.');
    }
    const { fold, scores } = whole;
    const untrusted = typeof scores === 'string' ? scores : Object.values(fold.misfits).find(Boolean);
    if (untrusted != null) onFailure?.(untrustedPart(untrusted));
    return { task, scores, ...(await writeFiles(whole, file, task.declaredBonds)) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    onFailure?.(error);
    return failed(error.message);
  }
}

/** The files of the tasks in order, one read ahead of the one that is written. */
async function* readInOrder(
  source: ArchiveSource,
  tasks: readonly ListedTask[],
  leftOut: ArchiveSelection['leftOut'],
): AsyncGenerator<ArchivedTask> {
  const reading: Promise<ArchivedTask>[] = [];
  for (const task of tasks) {
    const next = readTask(source, task, leftOut);
    // Nothing awaits it once the client has disconnected.
    next.catch(() => undefined);
    reading.push(next);
    if (reading.length > READ_AHEAD) yield (await reading.shift()) as ArchivedTask;
  }
  for (const last of reading) yield await last;
}

const toManifestEntry = ({ task, files, scores, problem }: ArchivedTask): object => ({
  taskId: task.taskId,
  index: task.index,
  name: task.name,
  inputIndex: task.inputIndex,
  repeatIndex: task.repeatIndex,
  status: task.status,
  files: files.map(([name, content]) => ({ name, bytes: content.byteLength })),
  scores: typeof scores === 'object' ? roundedScores(scores) : null,
  problem,
});

/** The part of a batch that is archived, and its order in the table. */
export interface ArchiveSelection {
  readonly order: TaskOrderName;
  /** The scores of tasks whose files are left out, by task id. */
  readonly leftOut: ReadonlyMap<string, TaskScores | string | undefined>;
}

/** Leaves out the files of all tasks but the best, of which each has the score of the order. */
export function selectBest(
  tasks: readonly ListedTask[],
  scores: ReadonlyMap<string, TaskScores | string>,
  { order, best }: { readonly order: TaskOrderName; readonly best: number },
): ArchiveSelection {
  const scored = tasks.map((task) => toScored(task, scores.get(task.taskId)));
  const chosen = orderTasks(scored, order)
    .filter((task) => isRanked(order, task.scores))
    .slice(0, best);
  const ids = new Set(chosen.map(({ taskId }) => taskId));
  const others = tasks.filter(({ taskId }) => !ids.has(taskId));
  return { order, leftOut: new Map(others.map(({ taskId }) => [taskId, scores.get(taskId)])) };
}

/** The archive: files of each task, then the table of scores and the manifest of what is in it. */
export async function* writeBatchArchive(
  source: ArchiveSource,
  tasks: readonly ListedTask[],
  { order, leftOut }: ArchiveSelection,
  about: Readonly<Record<string, unknown>>,
): AsyncGenerator<Uint8Array> {
  const zip = createZipWriter();
  const rows: ScoredTask[] = [];
  const entries: object[] = [];
  let isComplete = true;
  for await (const one of readInOrder(source, tasks, leftOut)) {
    for (const [name, content] of one.files) yield* await zip.entry(name, content);
    entries.push(toManifestEntry(one));
    isComplete &&= one.task.status !== 'DONE' || one.problem === null;
    rows.push({ ...toScored(one.task, one.scores), file: one.files.length === 0 ? null : one.task.file });
  }
  const manifest = JSON.stringify({ ...about, isComplete, tasks: entries }, null, 1);
  yield* await zip.entry('scores.tsv', Buffer.from(scoreTable(rows, order)));
  yield* await zip.entry('manifest.json', Buffer.from(manifest));
  yield zip.end();
}
