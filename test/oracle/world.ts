// The world in which the gateway is compared with the reference: a sandbox in each dialect, a
// proxy that can make one operation fail, and gateways that keep their store over a restart.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openUniverse } from '../../sandbox/src/atlas/universe.ts';
import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import type { Answer } from './compare.ts';
import { inParts, joinParts } from './parts.ts';
import type { Subjects } from './queries.ts';
import { createReference, type ReadRecord } from './reference.ts';

const PREFIX = '/atlas/protein/api/v1alpha1';
const SEED = 1;
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

/** Answers of the sandbox that a proxy remembers. */
const MAX_ANSWERS = 2000;

/** Another form of what the sandbox answers, in JSON, at a path. */
export type AlterAnswer = (path: string, json: unknown) => unknown;

/** Starts a server in front of the sandbox that fails as it is told. */
async function openFaultProxy(target: string, alter: AlterAnswer | undefined) {
  let fault: Fault | undefined;
  let failed = 0;
  /** The sandbox answers the same each time, but for its jobs. */
  const answers = new Map<string, { status: number; type: string; body: Buffer }>();

  async function answer(method: string, path: string, type: string, question: Buffer) {
    const key = `${method} ${path} ${question.toString('latin1')}`;
    const before = answers.get(key);
    if (before !== undefined) return before;
    const passed = await fetch(target + path, {
      method,
      headers: { 'content-type': type },
      ...(question.length === 0 ? {} : { body: new Uint8Array(question) }),
    });
    const sent = Buffer.from(await passed.arrayBuffer());
    const contentType = passed.headers.get('content-type') ?? 'application/octet-stream';
    const isAltered = alter !== undefined && passed.status === 200 && contentType.includes('json');
    const found = {
      status: passed.status,
      type: contentType,
      body: isAltered ? Buffer.from(JSON.stringify(alter(path, JSON.parse(sent.toString())))) : sent,
    };
    if (answers.size >= MAX_ANSWERS) answers.clear();
    if (passed.status === 200 && !OPERATIONS.job.test(path) && !OPERATIONS.download.test(path))
      answers.set(key, found);
    return found;
  }
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const isHit = fault !== undefined && failed < fault.times && OPERATIONS[fault.operation].test(path);
    const kind = isHit ? fault?.kind : undefined;
    if (isHit) failed += 1;
    if (kind === 'reset') return void request.socket.destroy();
    if (kind !== undefined && kind !== 'cut') {
      const [status, type, body] = BODIES[kind];
      // A read is tried again at once.
      return void response.writeHead(status, { 'content-type': type, 'retry-after': '0' }).end(body);
    }
    const { method = 'GET', headers } = request;
    const contentType = headers['content-type'] ?? 'application/json';
    const { status, type, body } = await answer(method, path, contentType, Buffer.concat(chunks));
    if (kind === 'cut') {
      response.writeHead(status, { 'content-type': type, 'content-length': String(body.length) });
      response.write(body.subarray(0, body.length >> 1), () => request.socket.destroy());
      return;
    }
    response.writeHead(status, { 'content-type': type }).end(status === 204 ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    fail(next: Fault | undefined) {
      fault = next;
      failed = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Single records of the sandbox, each read once: the universe does not change while reads are
 * compared.
 */
function readRecords(url: string): ReadRecord {
  const known = new Map<string, Awaited<ReturnType<ReadRecord>>>();
  return async (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const response = await fetch(url + PREFIX + path);
    if (response.status !== 200 && response.status !== 404)
      throw new Error(`The reference was answered ${response.status} at ${path}.`);
    const record = response.status === 200 ? await response.json() : null;
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
  const hashesOf = (some: typeof all) => some.map(({ hash }) => hash);
  return {
    kinds: {
      unclustered: hashesOf(kinds.unclustered),
      unfolded: hashesOf(kinds.unfolded),
      tooLong: hashesOf(kinds.tooLong),
      foldable: hashesOf(kinds.foldable),
      representatives: hashesOf(kinds.representatives),
      members: hashesOf(kinds.members),
    },
    subjects: {
      hashes: [...hashesOf(all), ...UNKNOWN],
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
  const sides = new Map<Dialect, Awaited<ReturnType<typeof openSide>>>();
  for (const dialect of DIALECTS) sides.set(dialect, await openSide(dialect));
  let sessions = 0;

  async function openSide(dialect: Dialect) {
    const sandbox = await startSandbox({ size: 'small', seed: SEED, dialect, ...own });
    const proxy = await openFaultProxy(sandbox.url, alter);
    const { execute } = createReference(readRecords(proxy.url), dialect === 'plain');
    const known = new Map<string, ReturnType<typeof execute>>();
    /** Answers from single records; each query is worked out once. */
    function reference(query: string): ReturnType<typeof execute> {
      const answer = known.get(query) ?? execute(query);
      if (known.size >= MAX_REFERENCES) known.clear();
      known.set(query, answer);
      return answer;
    }
    return { sandbox, proxy, reference };
  }

  function openGateway(upstreamUrl: string, store: string) {
    const config = readConfig({
      STORE_URL: store,
      LOG_LEVEL: 'silent',
      RATE_LIMIT_PER_MINUTE: '0',
      MAX_CONCURRENT_REQUESTS: '0',
      MAX_QUERY_COST: '1000000',
    });
    return createGateway({
      config,
      upstreamUrl,
      log: createLogger(config.LOG_LEVEL, false),
      breaker: { failures: 1_000_000, first: 1, longest: 1 },
      // Answers come from the caches of what the service said, and not from the responses of
      // before.
      limits: { responseCacheBytes: 0, eventLoopDelayMs: 0 },
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
      let gateway = openGateway(side.proxy.url, store);

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
          side.proxy.fail(fault);
          const answers = await Promise.all(questions.map(ask));
          side.proxy.fail(undefined);
          return answers;
        },
        reference: side.reference,
        async restart() {
          await gateway.close();
          gateway = openGateway(side.proxy.url, store);
        },
        async close() {
          side.proxy.fail(undefined);
          await gateway.close();
          await rm(file, { force: true });
        },
      };
    },
    async close() {
      for (const { sandbox, proxy } of sides.values()) {
        await proxy.close();
        await sandbox.close();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
