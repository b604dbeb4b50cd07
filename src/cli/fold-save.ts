// Saves the outcome of a batch: results and structures of its tasks, and a table of scores ranked
// by ipTM. Files that exist are not fetched again, so that a second run resumes the first.
import {
  accessSync,
  constants,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import { plainText } from '../plain-text.ts';
import { fileNames, type NamedTask } from '../resolvers/folds/score-table.ts';
import { type GatewayTarget, sayErrors } from './gateway-client.ts';
import { CliExit, EXIT, messageOf, readText, type Session } from './session.ts';

const TASKS = `query Tasks($batchId: ID!, $after: String) {
  batch(batchId: $batchId) {
    tasks(first: 1000, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { taskId name inputIndex repeatIndex status error { message } }
    }
  }
}`;

interface Task extends NamedTask {
  readonly status: string;
  readonly error: { readonly message: string } | null;
}

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly Task[];
}

async function tasksOf(place: GatewayTarget, session: Session, batchId: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let after: string | null = null; ; ) {
    const answer = await place.ask(TASKS, { batchId, after });
    const failed = sayErrors(session, answer) > 0;
    const { batch } = (answer.data ?? {}) as { batch?: { readonly tasks: Page | null } | null };
    if (batch?.tasks == null)
      throw new CliExit(
        EXIT.unreachable,
        failed ? 'The tasks cannot be read.' : `There is no batch ${batchId} for this token.`,
      );
    tasks.push(...batch.tasks.nodes);
    if (!batch.tasks.pageInfo.hasNextPage) return tasks;
    after = batch.tasks.pageInfo.endCursor;
  }
}

/**
 * Fetches a file to its place, whole or not at all.
 *
 * @returns why it failed, such as a full disk or a connection that broke off
 */
async function save(
  place: GatewayTarget,
  session: Session,
  path: string,
  file: string,
): Promise<string | undefined> {
  const response = await place.file(path);
  const part = `${file}.part`;
  try {
    if (!response.ok || response.body === null)
      return (await response.text()).trim().slice(0, 300) || `HTTP ${response.status}`;
    await pipeline(Readable.from(response.body), createWriteStream(part));
    renameSync(part, file);
    return undefined;
  } catch (error) {
    rmSync(part, { force: true });
    session.signal.throwIfAborted();
    return error instanceof Error && 'syscall' in error
      ? error.message
      : `the download broke off (${messageOf(error)})`;
  }
}

/** @throws CliExit of the option `--out` where the work fails */
function inFolder(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new CliExit(EXIT.usage, `--out: ${messageOf(error)}`);
  }
}

/**
 * Makes the folder for results, before anything is paid for that could not be saved there.
 *
 * @throws CliExit where it cannot be made or written
 */
export const makeFolder = (folder: string): void =>
  inFolder(() => {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  });

const ownerFile = (folder: string): string => join(folder, 'batch.txt');

/** The batch whose results a folder has; its id is empty for none. */
interface FolderOwner {
  readonly batchId: string;
  /** What the batch was submitted by, in one line; undefined where that is not known. */
  readonly submission: string | undefined;
}

function ownerOf(folder: string): FolderOwner {
  const file = ownerFile(folder);
  const text = existsSync(file) ? readText(file, '--out') : '';
  const [batchId = '', submission] = text.trim().split('\n');
  return { batchId, submission };
}

const othersFolder = (folder: string, owner: string, next: string): CliExit =>
  new CliExit(
    EXIT.usage,
    `${folder} has the results of batch ${owner}. Save those of this one to another folder${next}`,
  );

/**
 * Refuses a folder with the results of another submission, before anything is paid for: tasks of
 * other batches may have the same names.
 *
 * @param submission - what the batch is submitted by, in one line
 * @throws CliExit where nothing says that the folder is of the same submission
 */
export function checkFolder(folder: string, submission: string): void {
  const { batchId: owner, submission: origin } = ownerOf(folder);
  if (owner !== '' && origin !== submission)
    throw othersFolder(
      folder,
      owner,
      `; nothing was submitted. To go on with that batch: foldatlas fold --batch ${owner} --out ${folder}`,
    );
}

/**
 * Writes into the folder whose results it has.
 *
 * @throws CliExit where it has those of another batch, or cannot be written
 */
function claimFolder(folder: string, batchId: string, submission = ''): void {
  makeFolder(folder);
  const owner = ownerOf(folder).batchId;
  if (owner === '') inFolder(() => writeFileSync(ownerFile(folder), `${batchId}\n${submission}`));
  else if (owner !== batchId)
    throw othersFolder(folder, owner, `: foldatlas fold --batch ${batchId} --out DIR`);
}

const AT_ONCE = 4;

/**
 * Opens what saves the results of a batch to a folder. Files that are there are not fetched again.
 *
 * @param submission - what the batch was submitted by, in one line
 */
export async function openResultSaver(
  place: GatewayTarget,
  session: Session,
  batchId: string,
  folder: string,
  submission?: string,
) {
  const listed = await tasksOf(place, session, batchId);
  claimFolder(folder, batchId, submission);
  const names = fileNames(listed);
  const files = new Map(listed.map(({ taskId }, i) => [taskId, names[i] ?? taskId]));
  const limited = pLimit(AT_ONCE);
  const saving = new Map<string, Promise<string | undefined>>();
  let saved = 0;

  const saveTask = (taskId: string): Promise<string | undefined> =>
    limited(async () => {
      for (const [name, ending] of [
        ['result.json', 'json'],
        ['structure.cif', 'cif'],
      ]) {
        const file = join(folder, `${files.get(taskId) ?? taskId}.${ending}`);
        if (existsSync(file)) continue;
        const problem = await save(place, session, `/tasks/${encodeURIComponent(taskId)}/${name}`, file);
        if (problem !== undefined) return problem;
      }
      saved += 1;
      return undefined;
    });

  const take = (tasks: readonly Pick<Task, 'taskId' | 'status'>[]): void => {
    // What cannot be saved now is tried once more in the end.
    for (const { taskId, status } of tasks)
      if (status === 'DONE' && !saving.has(taskId)) saving.set(taskId, saveTask(taskId).catch(String));
  };

  return {
    /** Saves results of tasks that are done, in the background. */
    take,
    get saved() {
      return saved;
    },
    /** Saves what is left, and the table. @returns the tasks without results, with their reasons */
    async finish(): Promise<string[]> {
      const tasks = await tasksOf(place, session, batchId);
      take(tasks);
      const without: string[] = [];
      for (const { taskId, status, error } of tasks) {
        session.live(`saved ${saved} of ${saving.size}`);
        const failed = saving.has(taskId) && (await saving.get(taskId)) !== undefined;
        const problem = failed ? await saveTask(taskId) : error?.message;
        if (status !== 'DONE' || problem !== undefined)
          without.push(plainText([files.get(taskId) ?? taskId, status, problem].filter(Boolean).join(': ')));
      }
      session.live('');
      const table = `/batches/${encodeURIComponent(batchId)}/scores.tsv`;
      const problem = await save(place, session, table, join(folder, 'scores.tsv'));
      return problem === undefined ? without : [...without, `scores.tsv: ${problem}`];
    },
  };
}
