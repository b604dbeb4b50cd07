// Loads the result of a task that has one: the whole JSON, its scores, its addresses at the
// gateway.
import type { GatewayContext } from '../../../context.ts';
import type { TaskShape } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';
import type { FoldingResult } from '../../../structure/fold/result.ts';
import { checkPart, missingResult } from '../../../upstream/folds/fold-errors.ts';
import { taskFilePath } from './task-files.ts';

type TaskId = Pick<TaskShape, 'taskId'>;

/**
 * Downloads the result once in a request.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when there is none
 */
export async function loadFold(ctx: GatewayContext, { taskId }: TaskId): Promise<FoldingResult> {
  const fold = await ctx.folds.open(taskId);
  if (fold === null) throw missingResult();
  return fold;
}

/**
 * The scores, if need be from the result.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when there is none
 */
export async function loadScores(ctx: GatewayContext, { taskId }: TaskId): Promise<TaskScores> {
  const scores = await ctx.folds.scores(taskId);
  if (scores === null) throw missingResult();
  return scores;
}

/**
 * The mean pLDDT, 0 to 1. When the scores have none, the result says why.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when its rows fit no token or are on another scale
 */
export async function loadMeanPlddt(
  ctx: GatewayContext,
  task: TaskId,
  { meanPlddt }: TaskScores,
): Promise<number | null> {
  if (meanPlddt !== null) return meanPlddt;
  const fold = await loadFold(ctx, task);
  return checkPart(fold.meanPlddt, fold.misfits.plddt);
}

/** The address of a file of a task, which needs the caller's token. */
export const fileUrl = (ctx: GatewayContext, { taskId }: TaskId, file: string): string =>
  `${ctx.publicUrl}${taskFilePath(taskId, file)}`;

/** The address that needs no token; null when the service keeps the result at none. */
export async function signFileUrl(ctx: GatewayContext, task: TaskId, file: string): Promise<string | null> {
  const url = await ctx.folds.url(task.taskId);
  if (url === null) return null;
  const { links } = ctx.services;
  const path = links.seal(taskFilePath(task.taskId, file), { principal: ctx.principal, url });
  return `${ctx.publicUrl}${path}`;
}
