// The table of scores of a batch.
import { type Cell, tableRow } from '../../../plain-text.ts';
import type { TaskOrderName, TaskStatusName } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';
import type { NamedTask } from '../results/file-names.ts';
import { isRanked, orderTasks } from './task-order.ts';

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
 * The table of scores in an order, best ipTM first by default. Tasks without the score of the order
 * have no rank; they stand last.
 */
export function scoreTable(tasks: readonly ScoredTask[], order: TaskOrderName = 'IPTM'): string {
  const ranked = orderTasks(tasks, order);
  const rows = ranked.map((task, i): Cell[] => {
    const scores = task.scores && roundedScores(task.scores);
    return [
      ...[isRanked(order, task.scores) ? i + 1 : '', task.name, task.repeatIndex, task.status],
      ...[scores?.iptm, scores?.ptm, scores?.meanPlddt],
      ...[scores?.interface, scores?.ipsae, scores?.ipsaeMin, scores?.pDockQ, scores?.pDockQ2, scores?.lis],
      ...[scores?.meanPae, scores?.minPae, task.scores && listInterfaces(task.scores)],
      ...[task.taskId, task.file, task.problem],
    ];
  });
  return [COLUMNS, ...rows].map(tableRow).join('');
}
