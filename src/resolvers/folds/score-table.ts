// File names for the tasks of a batch, and their table of scores, best ipTM first. The archive, the
// table and the command line use the same names.
import { type Cell, tableRow } from '../../plain-text.ts';
import type { TaskStatusName } from '../../schema/task.ts';
import type { TaskScores } from '../../store/ledger/ledger.ts';

export interface NamedTask {
  readonly taskId: string;
  readonly name: string | null;
  readonly inputIndex: number | null;
  readonly repeatIndex: number | null;
}

const byTaskId = (a: NamedTask, b: NamedTask): number => (a.taskId < b.taskId ? -1 : 1);

/** Names that Windows keeps for devices, whatever the ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * A file name that every system takes: letters, marks and digits of any script, composed as Linux
 * and Windows have them. 80 units of UTF-16 are at most 240 bytes, which leaves room for endings.
 */
const plainFileName = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 80)
    // Half of a letter, where the cut fell into one.
    .replace(/\p{Cs}$/u, '')
    .replace(DEVICE, '$&_') || 'item';

/**
 * File names without ending, one per task: the item's name, with a suffix where several share it.
 */
export function fileNames(tasks: readonly NamedTask[]): string[] {
  const hasRepeats = tasks.some(({ repeatIndex }) => (repeatIndex ?? 0) > 0);
  // The archive has a manifest.json of its own.
  const taken = new Set<string>(['manifest']);
  const names = new Map<string, string>();
  // In the order of the submission: List may answer in another one each time.
  for (const { name, inputIndex, repeatIndex, taskId } of tasks.toSorted(byTaskId)) {
    const plain = plainFileName(name ?? (inputIndex === null ? taskId : `item${inputIndex}`));
    const base = `${plain}${hasRepeats && repeatIndex !== null ? `_${repeatIndex}` : ''}`;
    let free = base;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1) free = `${base}-${n}`;
    taken.add(free.toLowerCase());
    names.set(taskId, free);
  }
  return tasks.map(({ taskId }) => names.get(taskId) ?? taskId);
}

export interface ScoredTask extends NamedTask {
  readonly status: TaskStatusName;
  readonly scores: TaskScores | null;
  /** File name without ending; null where there is no file. */
  readonly file: string | null;
  readonly problem: string | null;
}

const rounded = (value: number | null | undefined): number | null =>
  value == null ? null : Number(value.toFixed(4));

/** Scores as files have them: pLDDT on 0 to 100, and of the interface with the best ipSAE. */
export function roundedScores({ iptm, ptm, meanPlddt, chainPairs }: TaskScores) {
  const [best] = chainPairs;
  const back = chainPairs.find(({ a, b }) => a === best?.b && b === best.a);
  const [forth, min] = [best?.ipsae ?? null, back?.ipsae ?? null];
  return {
    iptm: rounded(iptm),
    ptm: rounded(ptm),
    meanPlddt: rounded(meanPlddt === null ? null : meanPlddt * 100),
    interface: best === undefined ? null : `${best.a}-${best.b}`,
    ipsae: rounded(best?.ipsaeMax),
    ipsaeMin: rounded(forth === null || min === null ? null : Math.min(forth, min)),
    pDockQ: rounded(best?.pDockQ),
    pDockQ2: rounded(best?.pDockQ2),
    lis: rounded(best?.lis),
    meanPae: rounded(best?.meanPae),
    minPae: rounded(best?.minPae),
  };
}

/** The ipSAE of each interface, the larger one of both directions, such as `A-B:0.71 A-C:0.03`. */
function listInterfaces({ chainPairs }: TaskScores): string | null {
  const seen = new Set<string>();
  const cells: string[] = [];
  for (const { a, b, ipsaeMax } of chainPairs) {
    if (ipsaeMax === null || seen.has(`${b}-${a}`)) continue;
    seen.add(`${a}-${b}`);
    cells.push(`${a}-${b}:${rounded(ipsaeMax)}`);
  }
  return cells.length === 0 ? null : cells.join(' ');
}

const COLUMNS = [
  ...['rank', 'name', 'repeat', 'status', 'iptm', 'ptm', 'mean_plddt'],
  ...['interface', 'ipsae', 'ipsae_min', 'pdockq', 'pdockq2', 'lis', 'mean_pae', 'min_pae', 'interfaces'],
  ...['task_id', 'file', 'problem'],
];

/**
 * The table: best ipTM first, of equals (single chains have none) best pTM; tasks without scores
 * last.
 */
export function scoreTable(tasks: readonly ScoredTask[]): string {
  const value = ({ scores }: ScoredTask, key: 'iptm' | 'ptm') => (scores === null ? -2 : (scores[key] ?? -1));
  const ranked = tasks.toSorted(
    (a, b) => value(b, 'iptm') - value(a, 'iptm') || value(b, 'ptm') - value(a, 'ptm'),
  );
  const rows = ranked.map((task, i): Cell[] => {
    const scores = task.scores && roundedScores(task.scores);
    return [
      ...[scores === null ? '' : i + 1, task.name, task.repeatIndex, task.status],
      ...[scores?.iptm, scores?.ptm, scores?.meanPlddt],
      ...[scores?.interface, scores?.ipsae, scores?.ipsaeMin, scores?.pDockQ, scores?.pDockQ2, scores?.lis],
      ...[scores?.meanPae, scores?.minPae, task.scores && listInterfaces(task.scores)],
      ...[task.taskId, task.file, task.problem],
    ];
  });
  return [COLUMNS, ...rows].map(tableRow).join('');
}
