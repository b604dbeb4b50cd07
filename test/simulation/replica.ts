// One process of the gateway: the real services, contexts and resolvers, without HTTP around them.
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  parse,
  subscribe,
} from 'graphql';
import { type Config, readConfig } from '../../src/config.ts';
import { type Contexts, createContexts } from '../../src/gateway/request-context.ts';
import { createServices, type SharedServices } from '../../src/gateway/services.ts';
import { connectUpstream, toHostLimits, type UpstreamConnections } from '../../src/gateway/upstream.ts';
import type { Caller, Exchange } from '../../src/http/exchange.ts';
import { schema } from '../../src/resolvers/schema.ts';
import { WrongSecretError } from '../../src/store/ledger/mark.ts';
import { principalName } from '../../src/store/ledger/principals.ts';
import type { RedisPlatform } from '../../src/store/redis-connection.ts';
import { UnusableStoreError } from '../../src/store/unusable-store.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createRequestRecord } from '../../src/telemetry/request-record.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { createHostLimiters } from '../../src/upstream/http/host-limiter.ts';
import type { Plan } from './plan.ts';
import { Network, SERVICE_URL, type Service } from './service.ts';
import type { DiskUser } from './sqlite.ts';
import { createReplicaClock } from './virtual-time.ts';

/** The end of a process before or after any of its effects: a commit, a request. */
export class Process implements DiskUser {
  readonly name: string;
  isOver = false;
  /** The effect at which it is killed. */
  dieAt = Number.POSITIVE_INFINITY;
  effects = 0;
  readonly open = new Set<() => void>();
  readonly onSync: DiskUser['onSync'];
  redis?: RedisPlatform;
  constructor(name: string, onSync: DiskUser['onSync'] = () => undefined) {
    this.name = name;
    this.onSync = onSync;
  }
  pass(): void {
    this.effects += 1;
    if (this.effects >= this.dieAt) this.isOver = true;
    if (this.isOver) throw new Error('this process has ended');
  }
}

export interface Secrets {
  readonly current: string;
  readonly previous: readonly string[];
}

const SHARED_KEY = 'key-of-the-gateway';
const HOOKS = 'hooks.example.org';
export const hookUrl = (receiver: string, name: string): string => `https://${HOOKS}/${receiver}/${name}`;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const env = { STORE_URL: 'memory:', UPSTREAM_URL: SERVICE_URL, WEBHOOK_HOSTS: HOOKS, WEBHOOK_SECRET: SECRET };
const shared = { UPSTREAM_API_KEY: SHARED_KEY, GATEWAY_API_KEYS: 'ada:of-ada-0123456789abcdef' };
const configs = { own: readConfig(env), shared: readConfig({ ...env, ...shared }) };

const log = createLogger('silent', true, () => undefined);
const nothing = { inFlight: 0, queued: 0, host: 'closed' } as const;
const metrics = createMetrics({
  ...{ pollers: () => 0, watchers: () => 0, isLedgerLost: () => false, connections: () => 0 },
  cacheBytes: () => ({}),
  ...{ inFlight: () => 0, limiters: () => ({ api: nothing, files: [] }) },
  storeUsage: async () => ({ usedBytes: 0, limitBytes: null, evicts: false }),
});
const telemetry = createTelemetry(log, metrics, new Set());

const documents = new Map<string, DocumentNode>();
function document(text: string): DocumentNode {
  const known = documents.get(text) ?? parse(text);
  documents.set(text, known);
  return known;
}

export interface ReplicaOptions {
  readonly process: Process;
  readonly secrets: Secrets;
  readonly plan: Plan;
  readonly service: Service;
  readonly ledgerUrl: string;
  readonly skew: () => number;
  readonly storeNow: (() => number) | undefined;
}

/** A request of a caller. */
export interface CallerRequest {
  readonly id: string;
  readonly caller: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

export class Replica {
  readonly process: Process;
  readonly secrets: Secrets;
  readonly #config: Config;
  readonly #shared: SharedServices;
  readonly #contexts: Contexts;
  readonly #connections: UpstreamConnections;
  readonly #after: (milliseconds: number, work: () => void) => void;
  /** Whether it takes requests. */
  isServing = false;

  /** @throws Error when the store cannot be opened */
  constructor({ process, secrets, plan, service, ledgerUrl, skew, storeNow }: ReplicaOptions) {
    const clock = createReplicaClock(service.time, service.random, process, skew, storeNow);
    const config: Config = {
      ...configs[plan.isShared ? 'shared' : 'own'],
      ...{
        LEDGER_URL: ledgerUrl,
        GATEWAY_SECRET: secrets.current,
        GATEWAY_SECRET_PREVIOUS: [...secrets.previous],
      },
      ...(plan.hasWebhooks ? {} : { WEBHOOK_HOSTS: [] }),
    };
    // Handlers of undici's own kind are wrapped by a composed dispatcher.
    const network = new Network(service, process).compose((next) => next);
    const close = async () => undefined;
    const connections = { pool: network, unshared: network, publicOnly: network, close };
    const retryMs = [5_000, 30_000, 60_000];
    const webhookTimes = { firstPollMs: 2_000, sweepMs: 20_000, timeoutMs: 15_000, retryMs };
    const given = { config, log, upstreamUrl: SERVICE_URL, clock, connections, webhookTimes };
    const limiters = createHostLimiters(toHostLimits(config), clock);
    this.process = process;
    this.secrets = secrets;
    this.#config = config;
    this.#after = clock.after;
    this.#connections = connectUpstream(given, limiters, telemetry);
    this.#shared = createServices(given, telemetry, this.#connections, secrets.current);
    const authenticate = async (): Promise<Caller> => {
      throw new Error('streams of this world ask once');
    };
    const callers = { authenticate, reauthenticate: authenticate, reload: () => undefined, close };
    const { openUpstream } = this.#connections;
    const { services, loaders, movePrincipal, formerNames } = this.#shared;
    this.#contexts = createContexts({
      ...{ services, loaders, movePrincipal, formerNames, telemetry, openUpstream, callers },
    });
  }

  /** Looks at the ledger as a start does. @returns whether the process goes on */
  async start(): Promise<boolean> {
    try {
      await this.#shared.services.ledger.check();
    } catch (error) {
      if (error instanceof WrongSecretError || !(error instanceof UnusableStoreError)) return false;
    }
    this.isServing = true;
    return true;
  }

  /** Asks whether it is ready. @returns what is wrong */
  async probe(): Promise<string | undefined> {
    return this.#shared.services.ledger.check().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message.split('.', 1)[0] : String(error)),
    );
  }

  async #open({ id, caller, query, variables, signal }: CallerRequest): Promise<ExecutionArgs> {
    const { current } = this.secrets;
    const { UPSTREAM_API_KEY: key } = this.#config;
    const identity = key === undefined ? `token-${caller}` : `key ${caller}`;
    const who: Caller = {
      token: key ?? identity,
      ...{ identity, principal: principalName(current, identity), isProven: key !== undefined },
    };
    const headers = { 'x-request-id': id };
    const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    const record = createRequestRecord({ method: 'POST', path: '/graphql', headers }, () => span);
    const target = { method: 'POST', url: '/graphql', path: '/graphql', origin: 'http://gateway.test' };
    const exchange: Exchange = {
      ...{ ...target, headers, signal },
      ...{ address: '192.0.2.1', remoteAddress: undefined, record, body: undefined },
      ...{ caller: who, rate: null, refusal: null },
      ...{ release: () => undefined, onEnd: () => undefined, share: (run) => run(exchange) },
    };
    const contextValue = await this.#contexts.openContext(exchange);
    return { schema, contextValue, document: document(query), variableValues: variables };
  }

  /** Answers a request. */
  async answer(request: CallerRequest): Promise<ExecutionResult> {
    return execute(await this.#open(request));
  }

  /** Subscribes until the stream ends. */
  async watch(request: CallerRequest): Promise<void> {
    const events = await subscribe(await this.#open(request));
    if (!(Symbol.asyncIterator in events)) return;
    for await (const _ of events) if (this.process.isOver) return;
  }

  /** Stops as on SIGTERM: within the time that src/process/shutdown.ts gives. */
  async stop(): Promise<void> {
    this.isServing = false;
    const { services, endStreams, closeStores } = this.#shared;
    const within = (milliseconds: number, work: Promise<void>) =>
      Promise.race([work, new Promise<void>((resolve) => this.#after(milliseconds, resolve))]);
    endStreams();
    await within(this.#config.SHUTDOWN_SECONDS * 1000, services.submitting.ended());
    const closing = closeStores().catch(() => undefined);
    await within(3_000, closing);
    this.process.isOver = true;
  }
}
