// The server as a process of its own, built and started as `npm start` does, for tests of what
// becomes of processes: killed, stopped, out of disk.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWithFile } from '../child-processes.ts';
import { type Answer, at } from '../support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ServerProcess {
  readonly child: ChildProcess;
  /** Where it listens, without a slash at its end. */
  readonly url: string;
  /** The log so far. */
  readonly log: () => string;
  /** Sends one operation. @throws when the connection breaks */
  ask(query: string, variables?: Record<string, unknown>, token?: string): Promise<Answer>;
  /**
   * Sends a signal and waits for the end. @returns its exit code; null when the signal killed it
   */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts the server and resolves once it listens.
 *
 * @param env - settings; STORE_URL and UPSTREAM_URL should be among them
 * @param largestFileKibibytes - no file may grow beyond that
 * @throws Error with what it wrote when it ends before
 */
export async function startServer(
  env: Record<string, string>,
  { largestFileKibibytes }: { readonly largestFileKibibytes?: number } = {},
): Promise<ServerProcess> {
  const command = [process.execPath, 'dist/server.js'];
  // The shell is replaced by the server, so that signals reach it.
  const limit = largestFileKibibytes === undefined ? '' : `ulimit -f ${largestFileKibibytes} && `;
  const child = endWithFile(
    spawn('bash', ['-c', `${limit}exec "$@"`, 'server', ...command], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        NODE_ENV: 'production',
        LOG_LEVEL: 'warn',
        PORT: '0',
        // The machines of tests are shared; whether they are busy is not what is tried.
        MAX_CONCURRENT_REQUESTS: '0',
        ...env,
      },
    }),
  );
  const written = { out: '', err: '' };
  child.stderr.on('data', (chunk) => {
    written.err += String(chunk);
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      written.out += String(chunk);
      const found = /(http:\S+)\/graphql\n/.exec(written.out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${written.err}`)));
  });
  return {
    child,
    url,
    log: () => written.err,
    async ask(query, variables = {}, token = 'key-of-a-test') {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      return (await response.json()) as Answer;
    },
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      }
      return child.exitCode;
    },
  };
}

const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed batch { batchId } warnings { code } } ... on Refused { reason retryable } ... on Problem { message hint } } }`;

/** How a submission ended. */
export interface Ending {
  readonly kind: unknown;
  readonly batchId: unknown;
  readonly replayed: unknown;
  readonly reason: unknown;
  /** The message of a problem. */
  readonly message: unknown;
  readonly hint: unknown;
  /** Whether it was told that the gateway could not write it down. */
  readonly isForgotten: boolean;
}

/** Submits a short protein under a key. @throws when no answer came, or one that is none */
export async function submitOnce(
  { ask }: Pick<ServerProcess, 'ask'>,
  key: string,
  token?: string,
): Promise<Ending> {
  const input = {
    label: key,
    items: [{ name: key, chains: [{ protein: { sequence: 'GIVEQCCTSICSLYQLENYCN' } }] }],
    idempotencyKey: key,
  };
  const { data, errors } = await ask(SUBMIT, { input }, token);
  const ending = at(data, 'submitFold');
  if (errors !== undefined || ending === undefined) throw new Error(JSON.stringify(errors));
  return {
    kind: at(ending, '__typename'),
    batchId: at(ending, 'batch.batchId'),
    replayed: at(ending, 'replayed'),
    reason: at(ending, 'reason'),
    message: at(ending, 'message'),
    hint: at(ending, 'hint'),
    isForgotten: JSON.stringify(at(ending, 'warnings'))?.includes('NOT_REMEMBERED') ?? false,
  };
}

/** The ids of all batches that a caller has submitted, page by page. */
export async function batchIds({ ask }: Pick<ServerProcess, 'ask'>, token?: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after: unknown = null; ; ) {
    const { data, errors } = await ask(
      'query($after: String) { myBatches(first: 50, after: $after) { nodes { batchId } pageInfo { hasNextPage endCursor } } }',
      { after },
      token,
    );
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    const nodes = at(data, 'myBatches.nodes');
    if (!Array.isArray(nodes)) throw new Error('no batches');
    ids.push(...nodes.map((node) => String(at(node, 'batchId'))));
    if (at(data, 'myBatches.pageInfo.hasNextPage') !== true) return ids;
    after = at(data, 'myBatches.pageInfo.endCursor');
  }
}

/** The batches that were really queued, as the sandbox counts them. */
export async function queuedBatches(sandboxUrl: string): Promise<string[]> {
  const state: unknown = await (await fetch(`${sandboxUrl}/control`)).json();
  const batches = at(state, 'batches');
  if (!Array.isArray(batches)) throw new Error('no control routes');
  return batches.map((batch) => String(at(batch, 'batch_id')));
}
