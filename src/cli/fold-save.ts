// Saves the outcome of a batch: results and structures of its tasks, and a table of scores ranked
// by ipTM. Files that exist are not fetched again, so that a second run resumes the first.
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Cell, tableRow } from '../lookups/export-row.ts';
import { errorLines, type GatewayTarget } from './gateway-client.ts';
import { CliExit, EXIT, type Session } from './session.ts';

const TASKS = `query Tasks($batchId: ID!, $after: String) {
  batch(batchId: $batchId) {
    tasks(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { taskId name inputIndex repeatIndex state error { message } scores { ptm iptm meanPlddt } }
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
  readonly scores: {
    readonly ptm: number | null;
    readonly iptm: number | null;
    readonly meanPlddt: number | null;
  } | null;
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

/** File names, one per task: the item's name, with a suffix where several items share it. */
function fileNames(tasks: readonly Task[]): string[] {
  const repeats = tasks.some(({ repeatIndex }) => (repeatIndex ?? 0) > 0);
  const taken = new Set<string>();
  return tasks.map(({ name, inputIndex, repeatIndex, taskId }) => {
    const plain = (name ?? (inputIndex === null ? taskId : `item${inputIndex}`))
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[.-]+/, '')
      .slice(0, 80);
    const base = `${plain || 'item'}${repeats && repeatIndex !== null ? `_${repeatIndex}` : ''}`;
    let free = base;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1) free = `${base}-${n}`;
    taken.add(free.toLowerCase());
    return free;
  });
}

/** Fetches a file to its place, whole or not at all. @returns why it failed */
async function save(place: GatewayTarget, path: string, file: string): Promise<string | undefined> {
  if (existsSync(file)) return undefined;
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

const COLUMNS = [
  'rank',
  'name',
  'repeat',
  'state',
  'iptm',
  'ptm',
  'mean_plddt',
  'task_id',
  'file',
  'problem',
];
const rounded = (value: number | null | undefined): number | undefined =>
  value == null ? undefined : Number(value.toFixed(4));

interface Saved {
  readonly task: Task;
  readonly file: string;
  readonly problem: string | undefined;
}

/** Best ipTM first, of equals (single chains have none) best pTM; what has no scores last. */
function tableOf(saved: readonly Saved[]): string {
  const value = (one: Saved, key: 'iptm' | 'ptm') => one.task.scores?.[key] ?? Number.NEGATIVE_INFINITY;
  const ranked = saved.toSorted((a, b) => {
    const byIptm = value(b, 'iptm') - value(a, 'iptm');
    return byIptm > 0 || byIptm < 0 ? byIptm : value(b, 'ptm') - value(a, 'ptm') || 0;
  });
  const rows = ranked.map(({ task, file, problem }, i): Cell[] => [
    task.scores === null ? '' : i + 1,
    task.name,
    task.repeatIndex,
    task.state,
    rounded(task.scores?.iptm),
    rounded(task.scores?.ptm),
    rounded(task.scores?.meanPlddt),
    task.taskId,
    task.state === 'DONE' && problem === undefined ? file : '',
    problem ?? task.error?.message,
  ]);
  return [COLUMNS, ...rows].map(tableRow).join('');
}

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
  const saved: Saved[] = [];
  for (const [i, task] of tasks.entries()) {
    const file = names[i] ?? task.taskId;
    let problem: string | undefined;
    if (task.state === 'DONE') {
      const at = `/tasks/${encodeURIComponent(task.taskId)}`;
      session.live(`saving ${i + 1}/${tasks.length} ${file}`);
      problem =
        (await save(place, `${at}/result.json`, join(folder, `${file}.json`))) ??
        (await save(place, `${at}/structure.cif`, join(folder, `${file}.cif`)));
    }
    saved.push({ task, file, problem });
  }
  session.live('');
  writeFileSync(join(folder, 'scores.tsv'), tableOf(saved));
  return saved.flatMap(({ task, file, problem }) =>
    task.state === 'DONE' && problem === undefined
      ? []
      : [
          `${file}: ${task.state}` +
            `${problem === undefined && task.error === null ? '' : `: ${problem ?? task.error?.message}`}`,
        ],
  );
}
