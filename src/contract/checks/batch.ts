// The doctor's checks of the Batch API: those that cost nothing and, on request, the smallest fold
// from Submit to its result.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../upstream/errors.ts';
import { type Downloads, download } from '../../upstream/http/download.ts';
import { parseJsonBody, readBytes } from '../../upstream/http/response-body.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { fromWire } from '../../upstream/renames.ts';
import type { Drift } from '../compare.ts';
import { type Check, isProblem, type Measured } from '../report.ts';
import type { Fields } from '../rules.ts';
import { fieldsOf, type Part } from './atlas.ts';
import {
  differences,
  finding,
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

const FREE: readonly Probe[] = [
  {
    name: 'list, unknown batch',
    call: post('list', { batch_id: UNKNOWN_ID }),
    statuses: [404],
    answer: 'batchError',
  },
  {
    name: 'status, unknown task',
    call: post('status', { task_id: UNKNOWN_ID }),
    statuses: [404],
    answer: 'batchError',
  },
  {
    name: 'cancel, unknown batch',
    call: post('cancel', { batch_id: UNKNOWN_ID }),
    statuses: [404],
    answer: 'batchError',
  },
];

/** Runs all checks of the Batch API that cost nothing. */
export async function examineBatch(up: Upstream): Promise<Part> {
  const checks: Check[] = [];
  const limits: Measured[] = [];
  const put = async (question: Probe): Promise<ProbeResult> => {
    const asked = await runProbe(up, question);
    checks.push(asked.check);
    return asked;
  };
  await put({
    name: 'list, no token',
    call: post('list', { batch_id: UNKNOWN_ID }),
    statuses: [401, 403],
    token: false,
    examine: says,
  });
  const skip = (note: string) => {
    for (const { name, call } of FREE) checks.push(skippedCheck(name, call.operation, note));
    return { checks, limits };
  };
  if (up.token === undefined) return skip('needs a token');
  const [first, ...others] = FREE;
  if (first === undefined) return { checks, limits };
  const probe = await runProbe(up, first);
  if (probe.status === 401 || probe.status === 403)
    return skip(`the token is refused (HTTP ${probe.status})`);
  checks.push(probe.check);
  for (const question of others) await put(question);
  const page = (size: number) =>
    post('list', { batch_id: UNKNOWN_ID, include_responses: true, [up.settings.listLimitField]: size });
  await put({ name: 'list, page of 1000', call: page(1000), statuses: [404], answer: 'batchError' });
  const over = await runProbe(up, {
    name: 'list, page of 1001',
    call: page(1001),
    statuses: [400, 422, 404],
  });
  limits.push({
    name: 'items of a page of List',
    expected: 'at most 1000',
    seen: [400, 422].includes(over.status) ? '1001 refused' : `1001 answered with HTTP ${over.status}`,
  });
  return { checks, limits };
}

/** Options of a check that spends credits. */
export interface SpendOptions {
  readonly downloads: Downloads;
  readonly model: string;
  /** Milliseconds until the check is given up. */
  readonly patience: number;
  readonly onProgress: (line: string) => void;
}

async function resultCheck(up: Upstream, downloads: Downloads, url: string): Promise<Check> {
  const started = performance.now();
  const base = { name: 'result', operation: 'download' };
  try {
    const answer = await download(up, downloads, url);
    if (answer === null)
      return { ...skippedCheck('result', 'download', 'the signed URL is refused'), status: 'UNREACHABLE' };
    const body = fromWire(
      up.settings.mapping,
      'result',
      await parseJsonBody('download', await readBytes(up, answer)),
    );
    const drifts = differences('result', body);
    const milliseconds = Math.round(performance.now() - started);
    const findings = drifts.map((drift) => finding('result', drift));
    return {
      ...base,
      status: drifts.some(isProblem) ? 'CHANGED' : 'OK',
      http: answer.status,
      milliseconds,
      findings,
    };
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    return { ...skippedCheck('result', 'download', note), status: 'UNREACHABLE' };
  }
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

const isOpen = (listed: ProbeResult): boolean =>
  ['in_progress', 'queued'].includes(String(fieldsOf(fieldsOf(listed.body).data).status).toLowerCase());

/**
 * Submits the smallest fold and follows it to its result, then submits a second one and cancels it.
 * It costs ten residues, and twenty where the service is faster than the cancellation.
 *
 * @param spent - answers of an earlier Submit; without them the function submits
 */
export async function examineFold(
  up: Upstream,
  options: SpendOptions,
  spent?: Spent,
): Promise<Part & { readonly spent: Spent }> {
  const checks: Check[] = [];
  const add = (asked: ProbeResult): ProbeResult => {
    checks.push(asked.check);
    return asked;
  };
  const submit = async (name: string, before: unknown): Promise<{ raw: unknown; data: Fields }> => {
    const question: Probe = {
      name,
      call: post('submit', foldOf(options.model)),
      statuses: [200],
      answer: 'submit',
      asked: { total: 1 },
    };
    // A submission without an answer may be queued: it is never sent again.
    const isFirst = spent === undefined;
    const sent = isFirst ? await runProbe(up, { ...question, answer: undefined }) : undefined;
    const raw = before ?? sent?.body;
    if (raw === undefined) {
      if (sent !== undefined) add(sent);
      return { raw, data: {} };
    }
    const read = recheck(up, question, raw);
    const { status, findings } = read.check;
    checks.push({ ...(sent?.check ?? read.check), status, findings });
    const { data } = fieldsOf(read.body);
    return { raw, data: fieldsOf(data ?? read.body) };
  };

  const fold = await submit('submit', spent?.fold);
  const { batch_id: batchId, task_id: taskId } = fold.data;
  if (typeof batchId !== 'string')
    return { checks, limits: [], spent: { fold: fold.raw, cancelled: undefined } };

  const second = await submit('submit, to be cancelled', spent?.cancelled);
  const { batch_id: doomed } = second.data;
  if (typeof doomed === 'string') {
    const call = post('cancel', { batch_id: doomed });
    // It may have started already: the service then answers 409.
    const cancelling: Probe = { name: 'cancel', call, statuses: [200, 409] };
    const first = await runProbe(up, cancelling);
    add(
      first.status === 200
        ? { ...first, ...recheck(up, { ...cancelling, answer: 'cancel' }, first.body) }
        : first,
    );
  }

  const listing: Probe = {
    name: 'list',
    call: post('list', { batch_id: batchId, include_responses: true }),
    statuses: [200],
    answer: 'list',
    asked: { batchId, total: 1 },
  };
  const until = Date.now() + options.patience;
  let listed = await runProbe(up, listing);
  while (listed.check.status !== 'UNREACHABLE' && isOpen(listed) && Date.now() < until) {
    options.onProgress('waiting for the fold');
    await sleep(1000);
    listed = await runProbe(up, listing);
  }
  add(listed);
  const { items } = fieldsOf(fieldsOf(listed.body).data);
  const [item] = Array.isArray(items) ? items.map(fieldsOf) : [];
  const task = typeof taskId === 'string' ? taskId : item?.task_id;
  const result = { limits: [], spent: { fold: fold.raw, cancelled: second.raw } };
  if (typeof task !== 'string') return { checks, ...result };
  const status = add(
    await runProbe(up, {
      name: 'status',
      call: post('status', { task_id: task }),
      statuses: [200],
      answer: 'status',
    }),
  );
  add(
    await runProbe(up, {
      name: 'cancel, nothing left',
      call: post('cancel', { batch_id: batchId }),
      statuses: [409],
      answer: 'batchError',
    }),
  );
  const { response } = fieldsOf(fieldsOf(status.body).data);
  checks.push(
    typeof response === 'string'
      ? await resultCheck(up, options.downloads, response)
      : skippedCheck('result', 'download', 'the fold has not ended with a result'),
  );
  return { checks, ...result };
}
