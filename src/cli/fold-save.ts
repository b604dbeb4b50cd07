// Saves the outcome of a batch: results and structures of its tasks, and a table of scores ranked
// by ipTM. Files that exist are not fetched again, so that a second run resumes the first.
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileNames } from '../resolvers/folds/score-table.ts';
import { errorLines, type GatewayTarget } from './gateway-client.ts';
import { CliExit, EXIT, type Session } from './session.ts';

const TASKS = `query Tasks($batchId: ID!, $after: String) {
  batch(batchId: $batchId) {
    tasks(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { taskId name inputIndex repeatIndex state error { message } }
    }
  }
}`;

interface Task {
  readonly taskId: string;
  readonly name: string | null;
  readonly inputIndex: number | null;
  readonly repeatIndex: number | null;
  readonly state: string;
  readonly error: { readonly message: string } | null;
}

interface Page {
  readonly batch: {
    readonly tasks: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      readonly nodes: readonly Task[];
    };
  } | null;
}

async function tasksOf(place: GatewayTarget, session: Session, batchId: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let after: string | null = null; ; ) {
    const answer = await place.ask(TASKS, { batchId, after });
    for (const line of errorLines(answer)) session.say(line);
    const { batch } = (answer.data ?? { batch: null }) as Page;
    if (batch === null) {
      throw new CliExit(
        EXIT.unreachable,
        answer.errors === undefined
          ? `There is no batch ${batchId} for this token.`
          : 'The tasks cannot be read.',
      );
    }
    tasks.push(...batch.tasks.nodes);
    if (!batch.tasks.pageInfo.hasNextPage) return tasks;
    after = batch.tasks.pageInfo.endCursor;
  }
}

/** Fetches a file to its place, whole or not at all. @returns why it failed */
async function save(place: GatewayTarget, path: string, file: string): Promise<string | undefined> {
  const response = await place.file(path);
  if (!response.ok || response.body === null)
    return (await response.text()).trim().slice(0, 300) || `HTTP ${response.status}`;
  const part = `${file}.part`;
  try {
    await pipeline(Readable.from(response.body), createWriteStream(part));
    renameSync(part, file);
    return undefined;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** As `save`, unless the file is there. */
const saveOnce = async (place: GatewayTarget, path: string, file: string): Promise<string | undefined> =>
  existsSync(file) ? undefined : save(place, path, file);

/** Saves all results of a batch. @returns the tasks that have none, each with the reason */
export async function saveBatch(
  place: GatewayTarget,
  session: Session,
  batchId: string,
  folder: string,
): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const tasks = await tasksOf(place, session, batchId);
  const names = fileNames(tasks);
  const without: string[] = [];
  for (const [i, task] of tasks.entries()) {
    const file = names[i] ?? task.taskId;
    let problem = task.error?.message;
    if (task.state === 'DONE') {
      const at = `/tasks/${encodeURIComponent(task.taskId)}`;
      session.live(`saving ${i + 1}/${tasks.length} ${file}`);
      problem =
        (await saveOnce(place, `${at}/result.json`, join(folder, `${file}.json`))) ??
        (await saveOnce(place, `${at}/structure.cif`, join(folder, `${file}.cif`)));
    }
    if (task.state !== 'DONE' || problem !== undefined)
      without.push(`${file}: ${task.state}${problem === undefined ? '' : `: ${problem}`}`);
  }
  session.live('');
  const table = `/batches/${encodeURIComponent(batchId)}/scores.tsv`;
  const problem = await save(place, table, join(folder, 'scores.tsv'));
  return problem === undefined ? without : [...without, `scores.tsv: ${problem}`];
}
