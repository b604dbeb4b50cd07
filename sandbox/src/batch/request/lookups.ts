// The bodies of List, Status and Cancel read to values whose every rule holds.
import { z } from 'zod';
import type { Limits } from '../../limits.ts';
import type { WireSettings } from '../../wire/settings.ts';
import type { ListRequest } from '../list.ts';
import { taskStates } from '../states.ts';
import { read } from './reading.ts';

const id = z.string().min(1).max(200);

const statusBody = z.strictObject({ task_id: id });

/** Reads `{task_id}`. @throws Refusal 400 */
export const readStatus = (body: unknown) => read(statusBody, body);

const cancelBody = z
  .strictObject({ task_id: id.nullish(), batch_id: id.nullish() })
  .transform(({ task_id, batch_id }, context) => {
    if (typeof task_id === 'string' && typeof batch_id !== 'string') return { task_id };
    if (typeof batch_id === 'string' && typeof task_id !== 'string') return { batch_id };
    const given = typeof task_id === 'string' ? 'both' : 'neither';
    context.addIssue({ code: 'custom', message: `needs exactly one of task_id and batch_id, not ${given}` });
    return z.NEVER;
  });

/** Reads exactly one of `task_id` and `batch_id`. @throws Refusal 400 */
export const readCancel = (body: unknown) => read(cancelBody, body);

/** Makes the reader of List bodies; it throws a Refusal 400. */
export function listReader(limits: Limits, { listLimitField, listCursorField }: WireSettings) {
  const named = z.strictObject({
    batch_id: id,
    include_responses: z.boolean().default(false),
    status: z.enum(taskStates).nullish(),
  });
  const limit = z.int().min(1).max(limits.maxPage).default(limits.defaultPage);
  const cursor = z.string().min(1).max(400).nullish();
  const listBody = named.extend({ [listLimitField]: limit, [listCursorField]: cursor });
  return (body: unknown): ListRequest => {
    const fields: Record<string, unknown> = read(listBody, body);
    return {
      ...named.strip().parse(fields),
      limit: limit.parse(fields[listLimitField]),
      cursor: cursor.parse(fields[listCursorField]),
    };
  };
}
