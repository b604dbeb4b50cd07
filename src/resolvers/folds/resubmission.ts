// What a resubmission sends: which tasks of the batch, and where their inputs come from. Neither the
// service nor the ledger keeps sequences, so the caller brings them.
import type { GatewayContext } from '../../context.ts';
import type { IssueShape } from '../../schema/problem.ts';
import type { LedgerBatch, LedgerItem } from '../../store/ledger/ledger.ts';
import { checkSubmission } from '../../submission/check.ts';
import { type Item, type Submission, type SubmissionInput, takeSteps } from '../../submission/submission.ts';
import { submissionHash } from '../../submission/wire-body.ts';
import type { TaskStateName } from '../../upstream/folds/batch-states.ts';
import type { PlacedTask } from './ranked-tasks.ts';
import { type Examined, inputPath } from './submit.ts';

export interface Resubmission {
  readonly batchId: string;
  readonly input: SubmissionInput;
  readonly states: readonly TaskStateName[];
  readonly taskIds: readonly string[] | null;
}

/** At most ten of many, for a message. */
export const some = (names: readonly string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;

/** Positions of the items of a name. Repeats that were submitted again stand under one name, too. */
function positionsOf(name: string, kept: readonly (LedgerItem | null)[]): number[] | 'ambiguous' {
  const found = kept.flatMap((item, index) => (item?.name === name ? [index] : []));
  const chains = new Set(found.map((index) => JSON.stringify(kept[index]?.chains)));
  return chains.size > 1 ? 'ambiguous' : found;
}

type ItemsByPosition = ReadonlyMap<number, Item>;

/** Finds items by their names in the batch. Reports names of no item, or of several. */
async function itemsByName(
  ctx: GatewayContext,
  batch: LedgerBatch,
  { items, repeat }: Submission,
  issues: IssueShape[],
): Promise<ItemsByPosition> {
  const indexes = Array.from({ length: batch.itemCount }, (_, i) => i);
  const kept = await Promise.all(indexes.map((index) => ctx.submissions.item(batch.batchId, index)));
  const found = new Map<number, Item>();
  const hint =
    'Give the unchanged input of the batch, or only items to submit again, each under the name of its item.';
  for (const [i, item] of items.entries()) {
    const path = `items.${i}.name`;
    const { name } = item;
    const positions = name === null ? [] : positionsOf(name, kept);
    if (name === null)
      issues.push({ path, code: 'NAME_NEEDED', message: 'The item has no name to find its tasks by.', hint });
    else if (positions === 'ambiguous' || positions.some((index) => found.has(index)))
      issues.push({ path, code: 'AMBIGUOUS_NAME', message: 'Different items have this name.', hint });
    else if (positions.length === 0)
      issues.push({ path, code: 'UNKNOWN_NAME', message: 'No item of the batch has this name.', hint });
    else for (const index of positions) found.set(index, item);
  }
  if (repeat !== 1)
    issues.push({
      path: 'repeat',
      code: 'OTHER_INPUT',
      message: `This is not the input that batch ${batch.batchId} was made from, so \`repeat\` must be 1.`,
      hint: 'Each task is submitted again once: an item whose two repeats failed makes two tasks.',
    });
  return found;
}

/**
 * Where the inputs of the tasks come from: the whole input of the batch, or items under their names.
 *
 * @param issues - receives what is wrong with the input
 */
export async function inputsOf(
  ctx: GatewayContext,
  { batchId }: Resubmission,
  { submission, check }: Examined,
  total: number,
  issues: IssueShape[],
): Promise<ItemsByPosition> {
  const kept = await ctx.submissions.batch(batchId);
  // The label may differ; all else must equal the input of the batch.
  const isSame =
    kept === null || kept.inputHash === (await submissionHash({ ...submission, label: kept.label }));
  if (isSame && total === check.taskCount) return new Map(submission.items.entries());
  if (kept !== null) return itemsByName(ctx, kept, submission, issues);
  issues.push({
    path: 'input',
    code: 'OTHER_INPUT',
    message:
      `Batch ${batchId} was not submitted through this gateway, ` +
      `and its ${total} tasks are not those of this input.`,
    hint: 'Give its unchanged input.',
  });
  return new Map();
}

/** The tasks in the named states, of the named ids. @param issues - receives what is wrong with the ids */
export function chosenTasks(
  tasks: readonly PlacedTask[],
  { states, taskIds }: Resubmission,
  issues: IssueShape[],
): readonly PlacedTask[] {
  const inState = tasks.filter(({ state }) => states.includes(state));
  if (taskIds === null) return inState;
  const byId = new Map(tasks.map((task) => [task.taskId, task]));
  for (const [i, id] of taskIds.entries()) {
    const task = byId.get(id);
    const path = `taskIds.${i}`;
    if (task === undefined)
      issues.push({ path, code: 'UNKNOWN_TASK', message: 'The batch has no such task.', hint: null });
    else if (!states.includes(task.state)) {
      const message = `The task is ${task.state}, and \`states\` is ${states.join(' or ')}.`;
      issues.push({
        path,
        code: 'OTHER_STATE',
        message,
        hint: 'Leave it out, or name its state in `states`.',
      });
    }
  }
  return inState.filter(({ taskId }) => taskIds.includes(taskId));
}

/** A submission of some tasks, one item for each, repeats expanded. */
export async function partOf(
  ctx: GatewayContext,
  { batchId }: Resubmission,
  { submission }: Examined,
  tasks: readonly { readonly index: number; readonly item: Item }[],
): Promise<Examined> {
  const part = { ...submission, repeat: 1, items: tasks.map(({ item }) => item) };
  const check = await takeSteps(checkSubmission(part, ctx.services.config.FOLD_MODELS), ctx.clientSignal);
  const places = new Map(submission.items.map((item, position) => [item, position]));
  const positions = tasks.map(({ item }) => places.get(item) ?? 0);
  // Expanded repeats look like identical items.
  const warnings = check.warnings
    .filter(({ code }) => code !== 'IDENTICAL_ITEM' && code !== 'DUPLICATE_NAME')
    .map((warning) => ({ ...warning, path: inputPath(warning.path, positions) }));
  const origin = { batchId, indexes: tasks.map(({ index }) => index) };
  return {
    submission: part,
    check: { ...check, warnings },
    hash: await submissionHash(part, ctx.clientSignal),
    origin,
    positions,
  };
}
