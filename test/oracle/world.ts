// The world in which the gateway is compared with the reference: a sandbox in each dialect, a
// network that can make one operation fail, and gateways that keep their store over a restart.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionResult } from 'graphql';
import { Dispatcher, errors } from 'undici';
import { openUniverse } from '../../sandbox/src/atlas/universe.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { type Clock, systemClock } from '../../src/async/clock.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import type { Answer } from './compare.ts';
import { inParts, joinParts } from './parts.ts';
import type { Subjects } from './queries.ts';
import { createReference, type ReadRecord } from './reference.ts';

const PREFIX = '/atlas/protein/api/v1alpha1';
const SEED = 1;
/** Pauses before another try are short: nothing gets well by waiting. */
const clock: Clock = {
  ...systemClock,
  sleep: (milliseconds, options) => systemClock.sleep(Math.min(milliseconds, 1), options),
};
const UNKNOWN = ['0'.repeat(32), 'f'.repeat(32), '0123456789abcdef0123456789abcdef'];

export const DIALECTS = ['plain', 'rich'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Parts of an address by which an operation is known. */
const OPERATIONS = {
  bulk: /\/proteins\/batch$/,
  job: /\/proteins\/batch\/jobs\//,
  download: /\/download/,
  protein: /\/proteins\/[0-9a-f]{32}/,
  cluster: /\/clusters\//,
  uniprot: /\/uniprot\//,
  feature: /\/features\/\d/,
  catalogue: /\/features$/,
  similarity: /\/similarity-search/,
} as const;
type OperationName = keyof typeof OPERATIONS;
const isOperation = (name: string): name is OperationName => Object.hasOwn(OPERATIONS, name);
export const OPERATION_NAMES = Object.keys(OPERATIONS).filter(isOperation);

export const FAULTS = ['unavailable', 'invalid', 'reset', 'cut', 'empty', 'html'] as const;

/** One operation fails in one way. */
export interface Fault {
  readonly operation: OperationName;
  readonly kind: (typeof FAULTS)[number];
  /** Calls that fail, from the first on. */
  readonly times: number;
}

const BODIES = {
  unavailable: [503, 'application/json', '{"message":"down for maintenance"}'],
  invalid: [422, 'application/json', '{"detail":[{"loc":["body"],"msg":"no","type":"value_error"}]}'],
  empty: [200, 'application/json', ''],
  html: [500, 'text/html', '<html><body>Internal Server Error</body></html>'],
} as const;

/** Answers of the sandbox that are kept. */
const MAX_ANSWERS = 2000;

/** Another form of what the sandbox answers, in JSON, at a path. */
export type AlterAnswer = (path: string, json: unknown) => unknown;

interface Sent {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

type Ask = (method: string, path: string, question: string | null) => Promise<Sent>;

/** The answers of a sandbox, each asked for once: they stay the same, but for those about jobs. */
function createAnswers(target: string, alter: AlterAnswer | undefined): Ask {
  const answers = new Map<string, Sent>();

  return async (method, path, question) => {
    const key = `${method} ${path} ${question ?? ''}`;
    const before = answers.get(key);
    if (before !== undefined) return before;
    const headers = { 'content-type': 'application/json' };
    const passed = await fetch(target + path, { method, headers, body: question });
    const sent = Buffer.from(await passed.arrayBuffer());
    const type = passed.headers.get('content-type') ?? 'application/octet-stream';
    const isAltered = alter !== undefined && passed.status === 200 && type.includes('json');
    const body = isAltered ? Buffer.from(JSON.stringify(alter(path, JSON.parse(sent.toString())))) : sent;
    const found = { status: passed.status, type, body };
    if (answers.size >= MAX_ANSWERS) answers.clear();
    if (passed.status === 200 && !OPERATIONS.job.test(path) && !OPERATIONS.download.test(path))
      answers.set(key, found);
    return found;
  };
}

/** A network without sockets, with a sandbox behind it, that fails as it is told. */
class FaultyNetwork extends Dispatcher {
  readonly answer: Ask;
  #fault: Fault | undefined;
  #failed = 0;

  constructor(target: string, alter: AlterAnswer | undefined) {
    super();
    this.answer = createAnswers(target, alter);
  }

  fail(next: Fault | undefined): void {
    this.#fault = next;
    this.#failed = 0;
  }

  #nextFault(path: string): Fault['kind'] | undefined {
    const fault = this.#fault;
    if (fault === undefined || this.#failed >= fault.times || !OPERATIONS[fault.operation].test(path))
      return undefined;
    this.#failed += 1;
    return fault.kind;
  }
  /** @returns the answer and how many bytes of it arrive; null for a connection that is reset */
  async #receive(method: string, path: string, question: string | null): Promise<[Sent, number] | null> {
    const kind = this.#nextFault(path);
    if (kind === 'reset') return null;
    if (kind === undefined || kind === 'cut') {
      const sent = await this.answer(method, path, question);
      return [sent, kind === 'cut' ? sent.body.length >> 1 : sent.body.length];
    }
    const [status, type, text] = BODIES[kind];
    return [{ status, type, body: Buffer.from(text) }, text.length];
  }

  override dispatch(
    { method, path, body: question }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    let hasEnded = false;
    const fail = (error: Error) => {
      if (hasEnded) return;
      hasEnded = true;
      handler.onResponseError?.(controller, error);
    };
    const controller: Dispatcher.DispatchController = {
      ...{ aborted: false, reason: null, paused: false, rawHeaders: null, rawTrailers: null },
      abort: fail,
      pause: () => undefined,
      resume: () => undefined,
    };
    handler.onRequestStart?.(controller, {});
    void this.#receive(method, path, typeof question === 'string' ? question : null).then((received) => {
      if (hasEnded) return;
      if (received === null) return fail(new errors.SocketError('other side closed'));
      const [{ status, type, body }, bytes] = received;
      // A read is tried again at once.
      const headers = { 'content-type': type, 'content-length': String(body.length), 'retry-after': '0' };
      handler.onResponseStart?.(controller, status, headers, '');
      if (bytes > 0 && !hasEnded) handler.onResponseData?.(controller, body.subarray(0, bytes));
      if (bytes < body.length) return fail(new errors.SocketError('other side closed'));
      if (hasEnded) return;
      hasEnded = true;
      handler.onResponseEnd?.(controller, {});
    }, fail);
    return true;
  }
  override close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Single records of the sandbox, each read once: the universe does not change while reads are
 * compared.
 */
function readRecords({ answer }: FaultyNetwork): ReadRecord {
  const known = new Map<string, Awaited<ReturnType<ReadRecord>>>();
  return async (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const { status, body } = await answer('GET', PREFIX + path, null);
    if (status !== 200 && status !== 404) throw new Error(`The reference was answered ${status} at ${path}.`);
    const record = status === 200 ? JSON.parse(body.toString()) : null;
    known.set(path, record);
    return record;
  };
}

/** Hashes of some proteins of every kind that the universe holds. */
export interface ProteinKinds {
  readonly unclustered: readonly string[];
  readonly unfolded: readonly string[];
  readonly tooLong: readonly string[];
  readonly foldable: readonly string[];
  readonly representatives: readonly string[];
  readonly members: readonly string[];
}

/** Short proteins of every kind, and what to ask with. */
async function chooseSubjects(): Promise<{ kinds: ProteinKinds; subjects: Subjects }> {
  const universe = await openUniverse({ file: ':memory:', seed: SEED, size: 'small' });
  const proteins = Array.from(universe.withheld, (_, id) => universe.proteinById(id))
    .flatMap((protein) => protein ?? [])
    .sort((a, b) => a.sequence.length - b.sequence.length);
  const choose = (isMeant: (protein: (typeof proteins)[number]) => boolean) => {
    const chosen = proteins.filter(isMeant).slice(0, 8);
    if (chosen.length < 2) throw new Error('The universe lacks a kind of protein.');
    return chosen;
  };
  const isRepresentative = (hash: string) => universe.clusterOfRepresentative(hash) !== undefined;
  const kinds = {
    unclustered: choose(({ cluster }) => cluster === null),
    unfolded: choose(({ fold }) => fold === 'never'),
    tooLong: choose(({ sequence }) => sequence.length >= 700),
    foldable: choose(({ fold }) => fold === 'on_demand' || fold === 'slow'),
    representatives: choose(({ hash, cluster }) => cluster !== null && isRepresentative(hash)),
    members: choose(({ hash, cluster }) => cluster !== null && !isRepresentative(hash)),
  };
  const all = Object.values(kinds).flat();
  const accessions = all.flatMap(({ accession: id }) => (universe.uniprot(id) === undefined ? [] : [id]));
  universe.close();
  const listHashes = (some: typeof all) => some.map(({ hash }) => hash);
  return {
    kinds: {
      unclustered: listHashes(kinds.unclustered),
      unfolded: listHashes(kinds.unfolded),
      tooLong: listHashes(kinds.tooLong),
      foldable: listHashes(kinds.foldable),
      representatives: listHashes(kinds.representatives),
      members: listHashes(kinds.members),
    },
    subjects: {
      hashes: [...listHashes(all), ...UNKNOWN],
      accessions: [...accessions.slice(0, 6), 'P01308', 'INS_HUMAN', 'Q00000'],
      sequences: [
        ...all.filter((_, i) => i % 8 === 0 && i < 40).map((p) => p.sequence),
        'MKTAYIAKQRQISFVKSHFSRQ',
      ],
      features: [0, 3, 185, 4095, 16_383],
    },
  };
}

export type OracleWorld = Awaited<ReturnType<typeof openOracleWorld>>;

/** One document of a step. */
export interface Question {
  readonly query: string;
  /**
   * Decides which of its selections are deferred, and which of its lists streamed; it is asked
   * whole without.
   */
  readonly parts?: number | undefined;
}

/** The Accept header of a client that takes answers in parts. */
const PARTS = 'multipart/mixed;deferSpec=20220824';

/** A sandbox in one dialect, and what is right about it. */
interface Side {
  readonly sandbox: Sandbox;
  readonly network: FaultyNetwork;
  /** Answers from single records; each query is worked out once. */
  readonly reference: (query: string) => Promise<ExecutionResult>;
}

/** Answers of the reference that a side remembers. */
const MAX_REFERENCES = 1000;

/**
 * Opens all of it.
 *
 * @param alter - changes what the service says, to the gateway and to the reference
 * @param fasta - further proteins of the service
 */
export async function openOracleWorld(alter?: AlterAnswer, fasta = '') {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-'));
  const ownProteins = join(folder, 'own.fasta');
  await writeFile(ownProteins, fasta);
  const own = fasta === '' ? {} : { fasta: ownProteins };
  const sides = new Map<Dialect, Side>();
  for (const dialect of DIALECTS) sides.set(dialect, await openSide(dialect));
  let sessions = 0;

  async function openSide(dialect: Dialect): Promise<Side> {
    const sandbox = await startSandbox({ size: 'small', seed: SEED, dialect, ...own });
    const network = new FaultyNetwork(sandbox.url, alter);
    const { execute } = createReference(readRecords(network), dialect === 'plain');
    const known = new Map<string, Promise<ExecutionResult>>();
    function reference(query: string): Promise<ExecutionResult> {
      const answer = known.get(query) ?? execute(query);
      if (known.size >= MAX_REFERENCES) known.clear();
      known.set(query, answer);
      return answer;
    }
    return { sandbox, network, reference };
  }

  function openGateway({ sandbox, network }: Side, store: string) {
    const config = readConfig({
      STORE_URL: store,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_PER_MINUTE: '0',
      MAX_CONCURRENT_REQUESTS: '0',
      MAX_QUERY_COST: '1000000',
    });
    return createGateway({
      config,
      upstreamUrl: sandbox.url,
      connections: { pool: network, unshared: network, publicOnly: network, close: () => network.close() },
      log: createLogger(config.LOG_LEVEL, false),
      breaker: { failures: 1_000_000, first: 1, longest: 1 },
      clock,
      // Answers come from the caches of what the service said, and not from the responses of
      // before.
      limits: { responseCacheBytes: 0 },
    });
  }

  return {
    ...(await chooseSubjects()),
    /**
     * A gateway with an empty store.
     *
     * @param isDurable - whether the store lives on when the gateway is restarted; faster without
     */
    openSession(dialect: Dialect, isDurable = true) {
      const side = sides.get(dialect);
      if (side === undefined) throw new Error(`There is no dialect ${dialect}.`);
      sessions += 1;
      const file = join(folder, `${sessions}.db`);
      const store = isDurable ? `sqlite:${file}` : 'memory:';
      let gateway = openGateway(side, store);

      async function ask({ query, parts }: Question): Promise<Answer> {
        const response = await gateway.fetch(
          new Request('http://gateway.test/graphql', {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept: parts === undefined ? 'application/json' : PARTS,
            },
            body: JSON.stringify({ query: parts === undefined ? query : inParts(query, parts) }),
          }),
        );
        return joinParts(await response.text());
      }

      return {
        /** Asks some documents at the same time; answers in parts are put together. */
        async ask(questions: readonly Question[], fault?: Fault): Promise<Answer[]> {
          side.network.fail(fault);
          const answers = await Promise.all(questions.map(ask));
          side.network.fail(undefined);
          return answers;
        },
        reference: side.reference,
        async restart() {
          await gateway.close();
          gateway = openGateway(side, store);
        },
        async close() {
          side.network.fail(undefined);
          await gateway.close();
          await rm(file, { force: true });
        },
      };
    },
    async close() {
      for (const { sandbox } of sides.values()) await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
