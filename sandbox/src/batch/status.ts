// Answers Status, from a read body to the `data`.
import { type BatchParts, expired, findTask, times, toError } from './lookup.ts';
import { Refusal } from './refusal.ts';
import type { Caller } from './tokens.ts';

/**
 * Status of one task; a finished one comes with signed URLs, fresh at each reading.
 *
 * @throws Refusal 404, 410
 */
export async function status(parts: BatchParts, caller: Caller, { task_id }: { task_id: string }) {
  const { store, queue, signer, clock, limits, conventions } = parts;
  findTask(store, caller, task_id);
  await queue.settled();
  const { task, batch } = findTask(store, caller, task_id);
  const when = times(batch, limits);
  if (expired(batch, parts))
    throw new Refusal(
      410,
      `The results of task ${task_id} expired at ${when.results_expire_at}; fold the input again.`,
      {
        members: { results_expire_at: when.results_expire_at },
      },
    );
  if (task.state !== 'done') return { status: task.state, error: toError(task, parts), ...when };

  const left = Math.ceil((batch.submittedAt + limits.retentionMs - clock.now()) / 1000);
  const artifactSeconds = Math.min(limits.artifactUrlSeconds, left);
  const names = store.outputNames(task_id).filter((name) => name !== 'response');
  const artifacts = names.map((name): [string, string] => [
    name,
    signer.sign(`/downloads/artifacts/${task_id}/${name}.json`, artifactSeconds),
  ]);
  return {
    status: task.state,
    response: signer.sign(`/downloads/results/${task_id}.json`, Math.min(limits.responseUrlSeconds, left)),
    ...(conventions.has('statusArtifacts')
      ? { artifacts: Object.fromEntries(artifacts), artifacts_expire_in: artifactSeconds }
      : {}),
    ...when,
  };
}
