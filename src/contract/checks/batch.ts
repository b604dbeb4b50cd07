// The doctor's checks of the Batch API: those that cost nothing and, on request, the smallest fold
// from Submit to its result.
import { errorText } from '../../upstream/errors.ts';
import { parseJsonBody } from '../../upstream/http/response-body.ts';
import { fromWire } from '../../upstream/renames.ts';
import type { Drift } from '../compare.ts';
import {
  dataOf,
  differences,
  fieldsOf,
  type Probe,
  type ProbeResult,
  type Probes,
  skippedCheck,
} from './probe.ts';

const post = (operation: Probe['call']['operation'], body: unknown): Probe['call'] => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  body,
});

const UNKNOWN_ID = 'foldatlas-doctor-00000000';

const says = (body: unknown): Drift[] => {
  const path = 'message';
  const expected = 'message, error or detail';
  return errorText(body) === undefined
    ? [{ kind: 'missing', path, expected, seen: 'missing', loses: path }]
    : [];
};

const unknown = (name: string, operation: Probe['call']['operation'], id: 'batch_id' | 'task_id'): Probe => ({
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

export async function checkBatch({ up, checks, ask, keep, run, measure }: Probes): Promise<void> {
  const { call } = UNKNOWN_BATCH;
  await run({ name: 'list, no token', call, statuses: [401, 403], token: false, examine: says });
  const skip = (note: string): void => {
    for (const one of [UNKNOWN_BATCH, ...OTHERS])
      checks.push(skippedCheck(one.name, one.call.operation, note));
  };
  if (up.token === undefined) return skip('needs a token');
  const first = await ask(UNKNOWN_BATCH);
  const { http } = first.check;
  if (http === 401 || http === 403) return skip(`the token is refused (HTTP ${http})`);
  keep(first);
  for (const probe of OTHERS) await run(probe);
  const page = (size: number) =>
    post('list', { batch_id: UNKNOWN_ID, include_responses: true, [up.settings.listLimitField]: size });
  await run({ name: 'list, page of 1000', call: page(1000), statuses: [404], answer: 'batchError' });
  const over: Probe = { name: 'list, page of 1001', call: page(1001), statuses: [400, 422, 404] };
  measure('items of a page of List', 1000, await ask(over));
}

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

const isOpen = (listed: ProbeResult): boolean =>
  listed.check.status !== 'UNREACHABLE' &&
  ['in_progress', 'queued'].includes(String(dataOf(listed).status).toLowerCase());

/**
 * Submits the smallest fold and follows it to its result, then submits a second one and cancels it.
 * It costs ten residues, and twenty where the service is faster than the cancellation.
 */
export async function checkFold({ up, checks, poll, run, download }: Probes, model: string): Promise<void> {
  const submit: Probe = { name: 'submit', call: post('submit', foldOf(model)), asked: { total: 1 } };
  const { batch_id: batchId, task_id: taskId } = dataOf(await run(submit));
  if (typeof batchId !== 'string') return;

  const { batch_id: doomed } = dataOf(await run({ ...submit, name: 'submit, to be cancelled' }));
  // It may have started already: the service then answers 409.
  const cancel = (batch_id: string) => post('cancel', { batch_id });
  if (typeof doomed === 'string') await run({ name: 'cancel', call: cancel(doomed), statuses: [200, 409] });

  const listing: Probe = {
    name: 'list',
    call: post('list', { batch_id: batchId, include_responses: true }),
    asked: { batchId, total: 1 },
  };
  const { items } = dataOf(await poll(listing, isOpen, 'waiting for the fold'));
  const [item] = Array.isArray(items) ? items.map(fieldsOf) : [];
  const task = typeof taskId === 'string' ? taskId : item?.task_id;
  if (typeof task !== 'string') return;
  const status = await run({ name: 'status', call: post('status', { task_id: task }) });
  await run({ name: 'cancel, nothing left', call: cancel(batchId), statuses: [409], answer: 'batchError' });
  const { response } = dataOf(status);
  if (typeof response === 'string') {
    const { mapping } = up.settings;
    await download('result', 'result', response, async (bytes) =>
      differences('result', fromWire(mapping, 'result', await parseJsonBody('download', bytes))),
    );
  } else checks.push(skippedCheck('result', 'download', 'the fold has not ended with a result'));
}
