// The doctor's checks of the Batch API: those that cost nothing and, on request, the smallest fold
// from Submit to its result.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../upstream/errors.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import type { Drift } from '../compare.ts';
import type { Fields } from '../rules.ts';
import type { LongCheckOptions, Part } from './atlas.ts';
import {
  checkResult,
  createProbes,
  fieldsOf,
  type Probe,
  type ProbeResult,
  recheck,
  runProbe,
  skippedCheck,
} from './probe.ts';

const post = (operation: string, body: unknown): Probe['call'] => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  body,
});

/** An id of no batch and no task. */
const UNKNOWN_ID = 'foldatlas-doctor-00000000';

const says = (body: unknown): Drift[] => {
  const path = 'message';
  const expected = 'message, error or detail';
  return errorText(body) === undefined
    ? [{ kind: 'missing', path, expected, seen: 'missing', loses: path }]
    : [];
};

const unknown = (name: string, operation: string, id: 'batch_id' | 'task_id'): Probe => ({
  name,
  call: post(operation, { [id]: UNKNOWN_ID }),
  statuses: [404],
  answer: 'batchError',
});
const UNKNOWN_BATCH = unknown('list, unknown batch', 'list', 'batch_id');
const OTHERS = [
  unknown('status, unknown task', 'status', 'task_id'),
  unknown('cancel, unknown batch', 'cancel', 'batch_id'),
];

/** Runs all checks of the Batch API that cost nothing. */
export async function checkBatch(up: Upstream): Promise<Part> {
  const { checks, keep, run } = createProbes(up);
  const { call } = UNKNOWN_BATCH;
  await run({ name: 'list, no token', call, statuses: [401, 403], token: false, examine: says });
  const skip = (note: string): Part => {
    const skipped = [UNKNOWN_BATCH, ...OTHERS].map((one) => skippedCheck(one.name, one.call.operation, note));
    return { checks: [...checks, ...skipped], limits: [] };
  };
  if (up.token === undefined) return skip('needs a token');
  const first = await runProbe(up, UNKNOWN_BATCH);
  if (first.status === 401 || first.status === 403)
    return skip(`the token is refused (HTTP ${first.status})`);
  keep(first);
  for (const probe of OTHERS) await run(probe);
  const page = (size: number) =>
    post('list', { batch_id: UNKNOWN_ID, include_responses: true, [up.settings.listLimitField]: size });
  await run({ name: 'list, page of 1000', call: page(1000), statuses: [404], answer: 'batchError' });
  const over = await runProbe(up, {
    name: 'list, page of 1001',
    call: page(1001),
    statuses: [400, 422, 404],
  });
  const limit = {
    name: 'items of a page of List',
    expected: 'at most 1000',
    seen: [400, 422].includes(over.status) ? '1001 refused' : `1001 answered with HTTP ${over.status}`,
  };
  return { checks, limits: [limit] };
}

/** Answers of Submit, from which the checks can be repeated without paying again. */
export interface Spent {
  readonly fold: unknown;
  readonly cancelled: unknown;
}

/** The smallest fold, with every flag. */
const foldOf = (model: string) => ({
  endpoint: 'fold_max_accuracy',
  payload: [
    {
      model,
      all_atom_input: { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTG' }] },
      include_pae: true,
      include_pair_chains_iptm: true,
      include_embeddings: true,
    },
  ],
  repeat: 1,
});

const dataOf = ({ body }: Pick<ProbeResult, 'body'>): Fields => fieldsOf(fieldsOf(body).data);

const isOpen = (listed: ProbeResult): boolean =>
  listed.check.status !== 'UNREACHABLE' &&
  ['in_progress', 'queued'].includes(String(dataOf(listed).status).toLowerCase());

/**
 * Submits the smallest fold and follows it to its result, then submits a second one and cancels it.
 * It costs ten residues, and twenty where the service is faster than the cancellation.
 *
 * @param spent - answers of an earlier Submit; without them the function submits
 */
export async function checkFold(
  up: Upstream,
  { downloads, patience, onProgress, model }: LongCheckOptions & { readonly model: string },
  spent?: Spent,
): Promise<Part & { readonly spent: Spent }> {
  const { checks, keep, run } = createProbes(up);
  const submit = async (name: string, before: unknown): Promise<{ raw: unknown; data: Fields }> => {
    const call = post('submit', foldOf(model));
    const probe: Probe = { name, call, answer: 'submit', asked: { total: 1 } };
    // A submission without an answer may be queued: it is never sent again.
    const sent = spent === undefined ? await runProbe(up, { ...probe, answer: undefined }) : undefined;
    const raw = before ?? sent?.body;
    if (raw === undefined) {
      if (sent !== undefined) keep(sent);
      return { raw, data: {} };
    }
    const read = recheck(up, probe, raw);
    const { status, findings } = read.check;
    checks.push({ ...(sent?.check ?? read.check), status, findings });
    return { raw, data: fieldsOf(fieldsOf(read.body).data ?? read.body) };
  };

  const fold = await submit('submit', spent?.fold);
  const { batch_id: batchId, task_id: taskId } = fold.data;
  if (typeof batchId !== 'string')
    return { checks, limits: [], spent: { fold: fold.raw, cancelled: undefined } };

  const second = await submit('submit, to be cancelled', spent?.cancelled);
  const { batch_id: doomed } = second.data;
  if (typeof doomed === 'string') {
    // It may have started already: the service then answers 409.
    const call = post('cancel', { batch_id: doomed });
    const cancelling: Probe = { name: 'cancel', call, statuses: [200, 409] };
    const first = await runProbe(up, cancelling);
    const answered: Probe = { ...cancelling, answer: 'cancel' };
    keep(first.status === 200 ? recheck(up, answered, first.body) : first);
  }

  const listing: Probe = {
    name: 'list',
    call: post('list', { batch_id: batchId, include_responses: true }),
    answer: 'list',
    asked: { batchId, total: 1 },
  };
  const until = Date.now() + patience;
  let listed = await runProbe(up, listing);
  while (isOpen(listed) && Date.now() < until) {
    onProgress('waiting for the fold');
    await sleep(1000);
    listed = await runProbe(up, listing);
  }
  keep(listed);
  const { items } = dataOf(listed);
  const [item] = Array.isArray(items) ? items.map(fieldsOf) : [];
  const task = typeof taskId === 'string' ? taskId : item?.task_id;
  const result = { checks, limits: [], spent: { fold: fold.raw, cancelled: second.raw } };
  if (typeof task !== 'string') return result;
  const status = await run({ name: 'status', call: post('status', { task_id: task }), answer: 'status' });
  await run({
    name: 'cancel, nothing left',
    call: post('cancel', { batch_id: batchId }),
    statuses: [409],
    answer: 'batchError',
  });
  const { response } = dataOf(status);
  const none = 'the fold has not ended with a result';
  checks.push(
    typeof response === 'string'
      ? await checkResult(up, downloads, response)
      : skippedCheck('result', 'download', none),
  );
  return result;
}
