// The doctor's questions to the Batch API: those that cost nothing, and when told the smallest fold from Submit to its result. It
// must not know how answers are compared or shown.
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf, readBytes } from '../upstream/answer-body.ts';
import { compare, type Drift } from '../upstream/contract/compare.ts';
import { PROMISED } from '../upstream/contract/operations.ts';
import { type Downloads, download } from '../upstream/download.ts';
import { errorText } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http.ts';
import { fromWire } from '../upstream/mapping/rules.ts';
import { type Asked, ask, finding, type Question, skipped } from './ask.ts';
import { fieldsOf, type Part } from './atlas.ts';
import { type Check, type Measured, matters } from './report.ts';

const post = (operation: string, body: unknown): Question['call'] => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  body,
});

/** An id that no batch and no task has. */
const NOBODY = 'foldatlas-doctor-00000000';

const says = (body: unknown): Drift[] =>
  errorText(body) === undefined
    ? [
        {
          kind: 'missing',
          path: 'message',
          expected: 'message, error or detail',
          seen: 'missing',
          loses: 'message',
        },
      ]
    : [];

const FREE: readonly Question[] = [
  {
    name: 'list, unknown batch',
    call: post('list', { batch_id: NOBODY }),
    statuses: [404],
    answer: 'batchError',
  },
  {
    name: 'status, unknown task',
    call: post('status', { task_id: NOBODY }),
    statuses: [404],
    answer: 'batchError',
  },
  {
    name: 'cancel, unknown batch',
    call: post('cancel', { batch_id: NOBODY }),
    statuses: [404],
    answer: 'batchError',
  },
];

/** Asks all of the Batch API that costs nothing. */
export async function examineBatch(up: Upstream): Promise<Part> {
  const checks: Check[] = [];
  const limits: Measured[] = [];
  const put = async (question: Question): Promise<Asked> => {
    const asked = await ask(up, question);
    checks.push(asked.check);
    return asked;
  };
  await put({
    name: 'list, no token',
    call: post('list', { batch_id: NOBODY }),
    statuses: [401, 403],
    token: false,
    examine: says,
  });
  const skip = (note: string) => {
    for (const { name, call } of FREE) checks.push(skipped(name, call.operation, note));
    return { checks, limits };
  };
  if (up.token === undefined) return skip('needs a token');
  const [first, ...others] = FREE;
  if (first === undefined) return { checks, limits };
  const probe = await ask(up, first);
  if (probe.status === 401 || probe.status === 403)
    return skip(`the token is refused (HTTP ${probe.status})`);
  checks.push(probe.check);
  for (const question of others) await put(question);
  const page = (size: number) =>
    post('list', { batch_id: NOBODY, include_responses: true, [up.settings.listLimitField]: size });
  await put({ name: 'list, page of 1000', call: page(1000), statuses: [404], answer: 'batchError' });
  const over = await ask(up, { name: 'list, page of 1001', call: page(1001), statuses: [400, 422, 404] });
  limits.push({
    name: 'items of a page of List',
    expected: 'at most 1000',
    seen: [400, 422].includes(over.status) ? '1001 refused' : `1001 answered with HTTP ${over.status}`,
  });
  return { checks, limits };
}

/** What spending a fold needs. */
export interface SpendOptions {
  readonly downloads: Downloads;
  readonly model: string;
  /** Milliseconds until it is given up. */
  readonly patience: number;
  readonly onProgress: (line: string) => void;
}

async function resultCheck(up: Upstream, downloads: Downloads, url: string): Promise<Check> {
  const started = performance.now();
  const base = { name: 'result', operation: 'download' };
  try {
    const answer = await download(up, downloads, url);
    if (answer === null)
      return { ...skipped('result', 'download', 'the signed URL is refused'), status: 'UNREACHABLE' };
    const body = fromWire(
      up.settings.mapping,
      'result',
      await jsonOf('download', await readBytes(up, answer)),
    );
    const drifts = compare(PROMISED.result, body, { complete: true });
    const milliseconds = Math.round(performance.now() - started);
    const findings = drifts.map((drift) => finding('result', drift));
    return {
      ...base,
      status: drifts.some(matters) ? 'CHANGED' : 'OK',
      http: answer.status,
      milliseconds,
      findings,
    };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    return { ...skipped('result', 'download', note), status: 'UNREACHABLE' };
  }
}

/** Submits the smallest fold and follows it to its result. It costs what ten residues cost. */
export async function examineFold(up: Upstream, options: SpendOptions): Promise<Part> {
  const checks: Check[] = [];
  const put = async (question: Question): Promise<Asked> => {
    const asked = await ask(up, question);
    checks.push(asked.check);
    return asked;
  };
  const payload = [
    {
      model: options.model,
      all_atom_input: { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTG' }] },
    },
  ];
  const submitted = await put({
    name: 'submit',
    call: post('submit', { endpoint: 'fold_max_accuracy', payload, repeat: 1 }),
    statuses: [200],
    answer: 'submit',
  });
  const { batch_id: batchId, task_id: taskId } = fieldsOf(fieldsOf(submitted.body).data);
  if (typeof batchId !== 'string') return { checks, limits: [] };
  const listing: Question = {
    name: 'list',
    call: post('list', { batch_id: batchId, include_responses: true }),
    statuses: [200],
    answer: 'list',
  };
  const until = Date.now() + options.patience;
  let listed = await ask(up, listing);
  for (;;) {
    const data = fieldsOf(fieldsOf(listed.body).data);
    if (listed.check.status === 'UNREACHABLE' || !['in_progress', 'queued'].includes(String(data.status)))
      break;
    if (Date.now() > until) break;
    options.onProgress('waiting for the fold');
    await sleep(1000);
    listed = await ask(up, listing);
  }
  checks.push(listed.check);
  const items: unknown = fieldsOf(fieldsOf(listed.body).data).items;
  const [item] = Array.isArray(items) ? items.map(fieldsOf) : [];
  const task = typeof taskId === 'string' ? taskId : item?.task_id;
  if (typeof task !== 'string') return { checks, limits: [] };
  const status = await put({
    name: 'status',
    call: post('status', { task_id: task }),
    statuses: [200],
    answer: 'status',
  });
  await put({
    name: 'cancel, nothing left',
    call: post('cancel', { batch_id: batchId }),
    statuses: [409],
    answer: 'batchError',
  });
  const { response } = fieldsOf(fieldsOf(status.body).data);
  checks.push(
    typeof response === 'string'
      ? await resultCheck(up, options.downloads, response)
      : skipped('result', 'download', 'the fold has not ended with a result'),
  );
  return { checks, limits: [] };
}
