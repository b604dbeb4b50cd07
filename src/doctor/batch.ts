// The doctor's checks of the Batch API. Nothing is submitted, and only ids that cannot exist are
// cancelled. With the id of a batch of the caller's own, its page, task and result are read too.
import { errorText } from '../upstream/errors.ts';
import { readFold } from '../upstream/folds/read-fold.ts';
import { type Downloads, download } from '../upstream/http/download.ts';
import { readBytes } from '../upstream/http/response-body.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import * as wire from '../upstream/wire.ts';
import type { Difference } from './differences.ts';
import { type Answer, type Check, check, isOwn404, type Probe, readContent, skipped } from './probe.ts';

const NO_ID = 'foldatlas-doctor-no-such-id';

const post = (operation: 'list' | 'status' | 'cancel', body: object): Probe['call'] => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  body,
});

const hasText = ({ body }: Answer): Difference[] =>
  errorText(body) === undefined
    ? [{ path: '$', expected: 'message, error or detail', seen: 'no such text' }]
    : [];

const listItems = (body: unknown): unknown[] => {
  const { items } = Object(readContent(body));
  return Array.isArray(items) ? items : [];
};

const BESIDE = ['$.warning_messages', '$.results_expire_at', '$.expires_at'];

/** Reads a batch of the caller's own, which has to hold more than one task for its pages to say anything. */
async function checkOwn(up: Upstream, downloads: Downloads, batchId: string): Promise<Check[]> {
  const { listLimitField: limit, listCursorField: cursor } = up.settings;
  const list = { batch_id: batchId, include_responses: true, [limit]: 1 };
  const optional = [
    'batch_id',
    'created_at',
    'items[].response',
    'items[].response_available',
    'items[].error',
  ];
  const schema = wire.batchPage;
  const page = await check(up, {
    name: 'list, own batch',
    call: post('list', list),
    setting: 'UPSTREAM_LIST_LIMIT_FIELD',
    schema,
    optional: [...BESIDE, ...optional.map((key) => `$.${key}`)],
    examine: ({ body }) =>
      listItems(body).length <= 1
        ? []
        : [{ path: '$.items', expected: '1 item', seen: 'more', setting: 'UPSTREAM_LIST_LIMIT_FIELD' }],
  });
  if (page.check.http === 404) return [skipped(page.check.name, 'List knows no such batch of yours')];
  const checks = [page.check];
  const { cursor: next } = Object(page.body);
  const [first] = listItems(page.body);
  const taskId = Object(first).task_id;
  if (typeof next === 'string') {
    const further = await check(up, {
      name: 'list, next page',
      call: post('list', { ...list, [cursor]: next }),
      setting: 'UPSTREAM_LIST_CURSOR_FIELD',
      examine: ({ body }) =>
        listItems(body).every((item) => Object(item).task_id !== taskId)
          ? []
          : [
              {
                path: '$.items',
                expected: 'other items',
                seen: 'the same',
                setting: 'UPSTREAM_LIST_CURSOR_FIELD',
              },
            ],
    });
    checks.push(further.check);
  }
  if (typeof taskId !== 'string') return checks;
  const status = await check(up, {
    name: 'status, own task',
    call: post('status', { task_id: taskId }),
    schema: wire.taskStatus,
    optional: [...BESIDE, '$.response', '$.artifacts', '$.artifacts_expire_in', '$.error'],
  });
  checks.push(status.check);
  const { response } = Object(status.body);
  if (typeof response === 'string') checks.push(await checkResult(up, downloads, response));
  return checks;
}

async function checkResult(up: Upstream, downloads: Downloads, address: string): Promise<Check> {
  const name = 'result';
  const answer = await download(up, downloads, address).catch(() => null);
  if (answer === null) return skipped(name, 'the signed address does not answer', 'UNREACHABLE');
  try {
    readFold(await readBytes(up, answer));
    return { ...skipped(name, '', 'OK'), http: answer.status };
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const difference = { path: '$', expected: 'a folding result', seen };
    return { ...skipped(name, '', 'CHANGED'), http: answer.status, differences: [difference] };
  }
}

/** @param batchId - of the caller's own, to be read; none when absent */
export async function checkBatch(up: Upstream, downloads: Downloads, batchId?: string): Promise<Check[]> {
  const list = post('list', { batch_id: NO_ID, include_responses: false });
  const anonymous = await check(
    { ...up, token: undefined },
    { name: 'list, no token', call: list, statuses: [401, 403], examine: hasText },
  );
  const checks = [anonymous.check];
  const unknown: readonly Probe[] = [
    { name: 'list, unknown batch', call: list },
    { name: 'status, unknown task', call: post('status', { task_id: NO_ID }) },
    { name: 'cancel, unknown batch', call: post('cancel', { batch_id: NO_ID }) },
    { name: 'cancel, unknown task', call: post('cancel', { task_id: NO_ID }) },
  ];
  for (const probe of unknown) {
    if (up.token === undefined) checks.push(skipped(probe.name, 'needs a token'));
    else {
      const { check: done } = await check(up, { ...probe, statuses: [404], examine: isOwn404 });
      const isRefused = done.http === 401 || done.http === 403;
      checks.push(isRefused ? skipped(probe.name, `the token is refused (HTTP ${done.http})`) : done);
    }
  }
  if (batchId !== undefined && up.token !== undefined)
    checks.push(...(await checkOwn(up, downloads, batchId)));
  return checks;
}
