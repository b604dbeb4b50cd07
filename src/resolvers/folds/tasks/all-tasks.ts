// All tasks of a batch, by List.
import type { GatewayContext } from '../../../context.ts';
import type { TaskShape } from '../../../schema/task.ts';
import { listPages } from '../../../upstream/batch.ts';
import type { BatchPage } from '../../../upstream/wire.ts';
import { toTasks } from './task-shape.ts';

/** List calls that read all tasks: two full pages, and one more that may be empty. */
export const LIST_CALLS = 3;

/** A task with its position, which List's order gives when its id does not. */
export type PlacedTask = TaskShape & { readonly index: number };

export interface AllTasks {
  readonly page: BatchPage;
  /** As submitted. */
  readonly tasks: readonly PlacedTask[];
}

/** Reads all tasks of a batch by List; null for an unknown batch. */
export async function readAllTasks(ctx: GatewayContext, batchId: string): Promise<AllTasks | null> {
  const tasks: PlacedTask[] = [];
  let last: BatchPage | null = null;
  for await (const { page, items, before } of listPages((request) => ctx.batches.page(batchId, request))) {
    if (page === null) return null;
    for (const [i, task] of toTasks(batchId, page, items).entries())
      tasks.push({ ...task, index: task.index ?? before + i });
    last = page;
  }
  return last && { page: last, tasks: tasks.sort((a, b) => a.index - b.index) };
}
