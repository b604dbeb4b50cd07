// Plays the events of a plan over real gateways, and writes down what callers were told.
import { join } from 'node:path';
import type { ExecutionResult } from 'graphql';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { Disk } from './disk.ts';
import { findViolation, type Violation } from './judge.ts';
import {
  CALLERS,
  type CallerName,
  createEvent,
  type Event,
  type EventKind,
  eventName,
  LEDGER_LOST,
  type Plan,
} from './plan.ts';
import { type Loss, RedisStore } from './redis.ts';
import { type CallerRequest, hookUrl, Process, Replica, type Secrets } from './replica.ts';
import { field, Service } from './service.ts';
import { openedBy } from './sqlite.ts';
import { EPOCH, type Life, Random, settled, VirtualTime } from './virtual-time.ts';

const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
  ... on FoldSubmitted { replayed batch { batchId } warnings { code } }
  ... on Problem { message hint }
  ... on IdempotencyConflict { existingBatch { batchId } } } }`;
const CHECK = 'query($input: SubmitFoldInput!) { checkFold(input: $input) { warnings { code message } } }';
const CANCEL =
  'mutation($id: ID!) { cancelBatch(batchId: $id) { __typename ... on Problem { message hint } } }';
const LIST = '{ myBatches(first: 20) { nodes { batchId } } }';
const WATCH = 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final } }';

/** An answer that a caller got. */
export interface Told {
  readonly at: number;
  /** The type of the result; `error`, or `cut` where no answer came. */
  readonly type: string;
  readonly batchIds: readonly string[];
  readonly isReplayed: boolean;
  readonly warnings: readonly string[];
  readonly text: string;
}

type Answer = Pick<Told, 'type'> & Partial<Told>;

/** A request of a caller. */
export interface Asked {
  readonly id: string;
  readonly kind: 'submit' | 'check' | 'cancel' | 'list' | 'watch';
  readonly at: number;
  readonly caller: CallerName;
  readonly replica: string;
  /** Null for a submission without an idempotency key. */
  readonly key: string | null;
  readonly input: string;
  readonly url: string | null;
  told: Told | undefined;
}

export interface Line {
  readonly at: number;
  readonly where: string;
  readonly what: string;
}

interface Span {
  readonly from: number;
  to: number;
}

export interface Outcome {
  readonly history: History;
  readonly violation: Violation | undefined;
}

const HOUR_MS = 3_600_000;
/** The longest that a request may take: a Submit of 150 s, after a wait of 30 s for another one. */
const MAX_ANSWER_MS = 400_000;
/** How long a gateway may take to be connected again, and to look at the ledger. */
const NOTICE_MS = 10_000;
const AMINO = 'ACDEFGHIKLMNPQRSTVWY';
const SLOTS = 'ABC';

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const reason = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 90) : String(error);

/** Reads the answer to a request. */
function toAnswer(kind: Asked['kind'], { data, errors }: ExecutionResult): Answer {
  const root = Object.values(data ?? {})[0];
  if (root === undefined || root === null) return { type: 'error', text: errors?.[0]?.message ?? '' };
  const warnings = list(field(root, 'warnings'));
  const batchIds = [
    field(root, 'batch', 'batchId'),
    field(root, 'existingBatch', 'batchId'),
    ...list(field(root, 'nodes')).map((node) => field(node, 'batchId')),
    ...warnings.map((warning) => /batch (b\d+)/.exec(String(field(warning, 'message')))?.[1]),
  ];
  return {
    type: String(field(root, '__typename') ?? kind),
    batchIds: batchIds.filter((id): id is string => typeof id === 'string'),
    isReplayed: field(root, 'replayed') === true,
    warnings: warnings.map((warning) => String(field(warning, 'code'))),
    text: String(field(root, 'message') ?? ''),
  };
}

/** The history, as it is played and as the judge sees it. */
export class History {
  readonly plan: Plan;
  readonly service: Service;
  readonly asked: Asked[] = [];
  readonly lines: Line[] = [];
  /**
   * Between these times the ledger need not know what it knew before `from`: an operator has
   * accepted a loss, or no gateway can notice it.
   */
  readonly givenUp: Span[] = [];
  /** From when on the ledger lacked a paid key, until it was accepted. */
  readonly losses: Span[] = [];
  /** When documents may have been lost with the file of the ledger. */
  readonly filesLostAt: number[] = [];
  /** When processes ended, by their names. */
  readonly endedAt = new Map<string, number>();
  /** Processes whose file was removed: what they write since then ends with them. */
  readonly withoutFile = new Set<string>();
  /** How far the clock of the store was set ahead, all together: what it keeps for less is gone. */
  aheadMs = 0;
  /** When a power cut may have taken snapshots back, which are read again. */
  readonly powerCutAt: number[] = [];
  /** When a copy was first put back beside the log of before: its file may be damaged since. */
  mixedAt = Number.POSITIVE_INFINITY;
  /** When a gateway stopped in order: a poll without an answer yet is given up. */
  readonly stoppedAt: number[] = [];
  /** Pairs of an event and the state of a key that it met. */
  readonly coverage: string[] = [];
  /** Why nothing serves in the end. */
  isStuck: string | undefined;
  readonly #time: VirtualTime;
  readonly #ledgerUrl: string;
  readonly #disk: Disk | undefined;
  readonly #redis: RedisStore | undefined;
  readonly #slots: (Replica | undefined)[] = [];
  readonly #processes = new Set<Process>();
  readonly #secrets = ['secret-0-of-this-simulated-world'];
  /** How far the clock of each slot is ahead; with SQLite all have one. */
  readonly #skewsMs = [0, 0, 0];
  #processCount = 0;
  #backedUpAt: number | undefined;

  constructor(plan: Plan, time: VirtualTime, random: Random, store: Disk | RedisStore) {
    this.plan = plan;
    this.#time = time;
    this.#ledgerUrl = store.url;
    this.#disk = store instanceof Disk ? store : undefined;
    this.#redis = store instanceof RedisStore ? store : undefined;
    if (this.#redis !== undefined) this.#redis.trouble = plan.storeTrouble;
    this.service = new Service(time, random, (where, what) => this.#say(where, what));
    this.service.trouble = plan.trouble;
  }

  #skewMs(slot: number): number {
    return this.#skewsMs[this.#redis === undefined ? 0 : slot] ?? 0;
  }
  #createProcess(name: string): Process {
    const process = new Process(name, (files) => this.#disk?.save(files));
    this.#processes.add(process);
    const platform = this.#redis?.createPlatform(process);
    if (platform !== undefined) process.redis = platform;
    return process;
  }
  /** Lets time pass until work is done. */
  async #await<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    await this.#time.advance(60_000, () => this.reap() || isDone);
    if (!isDone) throw new Error('it does not end');
    return work;
  }

  #say(where: string, what: string): void {
    this.lines.push({ at: this.#time.now, where, what });
  }
  #secretsWithout(forgotten?: number): Secrets {
    const current = this.#secrets.at(-1) ?? '';
    const previous = this.#secrets.slice(0, -1).filter((_, index) => index !== forgotten);
    return { current, previous };
  }

  /** Takes note of processes that have ended at one of their effects. */
  readonly reap = (): boolean => {
    for (const process of this.#processes) {
      if (!process.isOver) continue;
      this.#processes.delete(process);
      this.endedAt.set(process.name, this.#time.now);
      this.#disk?.end(process, ![...this.#processes].some(({ isOver }) => !isOver));
      if (process.dieAt < Number.POSITIVE_INFINITY)
        this.#say(process.name, `killed at effect ${process.effects}`);
      for (const asked of this.asked)
        if (asked.replica === process.name && asked.told === undefined) this.#tell(asked, { type: 'cut' });
      const slot = this.#slots.findIndex((replica) => replica?.process === process);
      if (slot !== -1) this.#slots[slot] = undefined;
    }
    return false;
  };

  #tell(asked: Asked, told: Answer): void {
    asked.told = { batchIds: [], isReplayed: false, warnings: [], text: '', ...told, at: this.#time.now };
    const { type, batchIds, isReplayed, warnings, text } = asked.told;
    const more = [isReplayed ? 'replayed' : '', ...batchIds, ...warnings, text].filter((part) => part !== '');
    this.#say(asked.replica, `${asked.caller} is told ${[type, ...more].join(' ')} (${asked.id})`);
  }

  async #start(slot: number, secrets = this.#secretsWithout()): Promise<boolean> {
    if (this.#slots[slot] !== undefined) return true;
    this.#processCount += 1;
    const process = this.#createProcess(`${SLOTS[slot]}${this.#processCount}`);
    const redis = this.#redis;
    try {
      const replica = openedBy(
        process,
        () =>
          new Replica({
            ...{ process, secrets, plan: this.plan, service: this.service, ledgerUrl: this.#ledgerUrl },
            ...{ skew: () => this.#skewMs(slot), storeNow: redis && (() => redis.now()) },
          }),
      );
      this.#slots[slot] = replica;
      if (!(await this.#await(replica.start()))) throw new Error('it does not start with these secrets');
      this.#say(process.name, 'starts');
      return true;
    } catch (error) {
      this.#say(process.name, `cannot start: ${reason(error)}`);
      process.isOver = true;
      this.reap();
      return false;
    }
  }
  async #startAll(): Promise<void> {
    for (let slot = 0; slot < this.plan.replicas; slot += 1) await this.#start(slot);
  }
  #stop(slot: number): void {
    const replica = this.#slots[slot];
    if (replica === undefined) return;
    this.#slots[slot] = undefined;
    this.#say(replica.process.name, 'is stopped');
    this.stoppedAt.push(this.#time.now);
    void replica.stop();
  }
  /** Ends all processes, in order or not. */
  async #endAll(isKilled: boolean): Promise<void> {
    for (let slot = 0; slot < this.plan.replicas; slot += 1) if (!isKilled) this.#stop(slot);
    if (!isKilled) await this.#time.advance(40_000, () => this.reap() || this.#processes.size === 0);
    for (const process of this.#processes) process.isOver = true;
    this.reap();
  }

  /** Whether a key was claimed after that time, and paid, that is not known. */
  #isPaidSince(from: number, known: ReadonlySet<unknown> = new Set()): boolean {
    const isLost = ({ key, at }: Asked) => key !== null && at > from && !known.has(key);
    return this.service.submits.some(
      ({ requestId, batchId }) =>
        batchId !== undefined && this.asked.some((one) => one.id === requestId && isLost(one)),
    );
  }
  #endLosses(): void {
    for (const loss of this.losses) loss.to = Math.min(loss.to, this.#time.now);
  }
  #giveUp(): void {
    this.givenUp.push({ from: this.#time.now, to: Number.POSITIVE_INFINITY });
    this.#endLosses();
  }
  #noteLoss(since: number): void {
    this.filesLostAt.push(this.#time.now);
    const acceptedAt = this.givenUp.at(-1)?.from ?? since;
    // A copy beside the log of before may have all that it lacks.
    if (this.#isPaidSince(Math.max(since, acceptedAt), this.#disk?.readKeys()))
      this.losses.push({ from: this.#time.now, to: Number.POSITIVE_INFINITY });
  }
  /** Processes that notice a loss of paid keys. */
  #knowers({ isEmpty, knowers, claims }: Loss): readonly Life[] {
    if (isEmpty) return this.#isPaidSince(-1) ? [...knowers] : [];
    const paid = claims.filter(({ process, place, at: claimedAt }) =>
      this.service.submits.some(({ at: sentAt, requestId, replica }) => {
        const key = this.asked.find(({ id }) => id === requestId)?.key;
        const isSender = process instanceof Process && process.name === replica;
        return isSender && sentAt >= claimedAt && place.endsWith(`:key:${key}`);
      }),
    );
    return paid.map(({ process }) => process);
  }
  /** Redis has started without its last writes: a gateway that knows of them has to notice. */
  #noteStoreLoss(redis: RedisStore, loss: Loss): void {
    const from = this.#time.now;
    const unnoticed = { from, to: Number.POSITIVE_INFINITY };
    const knowers = this.#knowers(loss);
    this.filesLostAt.push(from);
    this.givenUp.push(unnoticed);
    const look = () => {
      const { eventCount } = redis;
      this.#time.after(NOTICE_MS, () => {
        if (!knowers.some(({ isOver }) => !isOver)) return;
        if (eventCount !== redis.eventCount || redis.isStalled) return look();
        unnoticed.to = this.#time.now;
        this.losses.push({ from: this.#time.now, to: Number.POSITIVE_INFINITY });
      });
    };
    look();
  }
  async #accept(): Promise<void> {
    const process = this.#createProcess('operator');
    try {
      const now = () => this.#redis?.now() ?? EPOCH + Math.round(this.#time.now) + this.#skewMs(0);
      const accepting = openedBy(process, () => {
        const ledger = openLedger(this.#ledgerUrl, this.#secretsWithout(), { now });
        return ledger.accept().finally(() => ledger.close());
      });
      const isAccepted = await this.#await(accepting);
      this.#say('operator', isAccepted ? 'accepts the ledger' : 'has nothing to accept');
      if (isAccepted) this.#giveUp();
    } catch (error) {
      this.#say('operator', `cannot accept: ${reason(error)}`);
    }
    process.isOver = true;
    this.reap();
  }

  /** Asks a replica that takes requests: the wanted one, else another. */
  #ask(
    wanted: number,
    what: Pick<Asked, 'kind' | 'caller'> & Partial<Asked>,
    query: string,
    variables: (id: string) => CallerRequest['variables'] = () => ({}),
    leavesMs: number | null = null,
  ): void {
    const order = [wanted, 0, 1, 2].map((slot) => this.#slots[slot]);
    const replica = order.find((one) => one?.isServing === true && !one.process.isOver);
    if (replica === undefined) return;
    const { process } = replica;
    const id = `op-${String(this.asked.length + 1).padStart(6, '0')}`;
    const asked: Asked = {
      ...{ key: null, input: '', url: null, told: undefined, ...what },
      ...{ id, at: this.#time.now, replica: process.name },
    };
    this.asked.push(asked);
    const leaving = new AbortController();
    if (leavesMs !== null) this.#time.after(leavesMs, () => leaving.abort());
    const request = { id, caller: asked.caller, query, variables: variables(id), signal: leaving.signal };
    if (asked.kind === 'watch') {
      this.#time.after(120_000, () => leaving.abort());
      const end = () => this.#tell(asked, { type: 'ended' });
      replica.watch(request).then(end, end);
      return;
    }
    const tell = (told: Answer) => {
      if (!process.isOver && asked.told === undefined) this.#tell(asked, told);
    };
    replica.answer(request).then(
      (result) => tell(toAnswer(asked.kind, result)),
      (error: unknown) => tell({ type: 'error', text: String(error) }),
    );
  }
  #askWithInput({ kind, replica, caller, key, variant, receiver, fate, leavesMs }: Event): void {
    const letters = [CALLERS.indexOf(caller), key ?? 19, variant].map((index) => AMINO[index] ?? 'W');
    const input = `MKV${letters.join('')}`;
    const idempotencyKey = key === null ? null : `key-${key}`;
    const asked = { items: [{ chains: [{ protein: { sequence: input } }] }], idempotencyKey };
    const what = { caller, input, key: idempotencyKey };
    if (kind === 'check') {
      this.#ask(replica, { kind, ...what }, CHECK, () => ({ input: asked }));
      return;
    }
    const url = receiver === null ? null : hookUrl(receiver, `${caller}-${this.asked.length + 1}`);
    const notify = url === null ? {} : { notify: { url } };
    const variables = (id: string) => {
      this.service.fates.set(id, fate);
      return { input: { ...asked, ...notify } };
    };
    this.#ask(replica, { kind: 'submit', ...what, url }, SUBMIT, variables, leavesMs);
  }
  #askOfBatch(kind: 'cancel' | 'watch', query: string, { replica, caller, batch }: Event): void {
    const id = [...this.service.batches.keys()][batch];
    if (id !== undefined) this.#ask(replica, { kind, caller }, query, () => ({ id }));
  }

  /** The state of a key, for coverage. */
  #keyState(caller: CallerName, key: string): string {
    const uses = this.asked.filter(
      (one) => one.kind === 'submit' && one.caller === caller && one.key === key,
    );
    if (uses.length === 0) return 'unused';
    if (uses.some(({ told }) => told === undefined)) return 'being sent';
    const isPaid = this.service.submits.some(
      ({ batchId, requestId }) => batchId !== undefined && uses.some(({ id }) => id === requestId),
    );
    const isKnown = uses.some(({ told }) => told?.type === 'FoldSubmitted');
    if (isPaid) return `paid${isKnown ? '' : ', not told'}`;
    return /cut|OutcomeUnknown/.test(uses.at(-1)?.told?.type ?? '') ? 'unknown' : 'refused';
  }
  #cover(event: Event): void {
    const isLost = this.losses.some(({ to }) => to > this.#time.now) ? LEDGER_LOST : '';
    const hasKey = event.kind === 'submit' || event.kind === 'check';
    const hasCaller = hasKey || event.kind === 'cancel' || event.kind === 'watch' || event.kind === 'list';
    for (const caller of hasCaller ? [event.caller] : CALLERS)
      for (const key of hasKey ? [event.key] : [0, 1])
        if (key !== null)
          this.coverage.push(`${eventName(event)} × ${this.#keyState(caller, `key-${key}`)}${isLost}`);
  }

  async #changeSecret(slot: number, forget: boolean): Promise<void> {
    const count = this.#secrets.push(`secret-${this.#secrets.length}-of-this-simulated-world`);
    this.#say('operator', `makes secret ${count - 1}`);
    this.#stop(slot);
    const forgotten = forget ? Math.max(0, count - 2 - this.service.random.below(2)) : undefined;
    await this.#start(slot, this.#secretsWithout(forgotten));
  }

  readonly #plays: { readonly [kind in EventKind]: (event: Event) => void | Promise<void> } = {
    submit: (event) => this.#askWithInput(event),
    check: (event) => this.#askWithInput(event),
    cancel: (event) => this.#askOfBatch('cancel', CANCEL, event),
    watch: (event) => this.#askOfBatch('watch', WATCH, event),
    list: ({ replica, caller }) => this.#ask(replica, { kind: 'list', caller }, LIST),
    probe: async (event) => {
      const replica = this.#slots[event.replica];
      if (replica === undefined) return;
      const fault = await this.#await(replica.probe()).catch(String);
      this.#say(replica.process.name, `is asked: ${fault ?? 'ready'}`);
    },
    kill: ({ replica, effects }) => {
      const process = this.#slots[replica]?.process;
      if (process === undefined) return;
      if (effects > 0) process.dieAt = process.effects + effects;
      else {
        this.#say(process.name, 'is killed');
        process.isOver = true;
      }
    },
    stop: ({ replica }) => this.#stop(replica),
    start: async ({ replica }) => void (await this.#start(replica)),
    'rotate secret': ({ replica }) => this.#changeSecret(replica, false),
    'forget secret': ({ replica }) => this.#changeSecret(replica, true),
    accept: () => this.#accept(),
    'set clock': ({ replica: slot, hours }) => {
      const skewMs = hours * HOUR_MS;
      const isOfStore = this.#redis === undefined || slot === this.plan.replicas;
      if (isOfStore) this.aheadMs += Math.max(0, skewMs);
      // The clock of the machine with the file, or that of one of several machines.
      if (this.#redis !== undefined && isOfStore) this.#redis.skewMs += skewMs;
      else this.#skewsMs[this.#redis === undefined ? 0 : slot] = this.#skewMs(slot) + skewMs;
      const name = slot < this.plan.replicas ? SLOTS[slot] : 'Redis';
      this.#say('operator', `sets the clock${this.#redis ? ` of ${name}` : ''} by ${hours} h`);
    },
    days: async ({ hours }) => {
      await this.#endAll(false);
      await this.#time.advance(hours * HOUR_MS);
      this.#say('operator', `${hours} h later`);
      await this.#startAll();
    },
    'back up': () => {
      if (!this.#disk?.backUp()) return;
      this.#backedUpAt = this.#time.now;
      this.#say('operator', 'backs up');
    },
    restore: async ({ isClean, isKilled, accepts }) => {
      if (this.#backedUpAt === undefined) return;
      await this.#endAll(isKilled || !isClean);
      this.#disk?.restore(isClean);
      if (!isClean) this.mixedAt = Math.min(this.mixedAt, this.#time.now);
      this.#endLosses();
      this.#noteLoss(this.#backedUpAt);
      this.#say('operator', `puts the copy back${isClean ? '' : ' beside the log of before'}`);
      if (accepts) await this.#accept();
      await this.#startAll();
    },
    'cut power': async () => {
      await this.#endAll(true);
      this.#disk?.cutPower();
      this.powerCutAt.push(this.#time.now);
      this.#say('operator', 'the power was cut');
      await this.#startAll();
    },
    'remove file': () => {
      this.#disk?.remove('ledger', 'log');
      // A power cut does not bring it back.
      this.#disk?.save();
      this.#noteLoss(-1);
      for (const { name } of this.#processes) this.withoutFile.add(name);
      this.#say('operator', 'removes the file of the ledger');
    },
    'remove witness': async () => {
      await this.#endAll(false);
      // Nothing is left that could tell.
      if (this.#disk?.hasLedger() === false) this.#giveUp();
      this.#disk?.remove('witness');
      this.#say('operator', 'removes the file that says how new the ledger is');
      await this.#startAll();
    },
    'fail over': async ({ end, rejoinMs }) => {
      const lost = await this.#redis?.failOver(end, rejoinMs);
      if (lost !== undefined) this.#say('store', `fails over (${end}), without ${lost} writes`);
      this.powerCutAt.push(this.#time.now);
    },
    'restart store': async ({ lostMs }) => {
      if (this.#redis === undefined) return;
      const loss = await this.#redis.restart(lostMs);
      this.#say('store', `starts again${loss === undefined ? '' : `, without the last ${lostMs} ms`}`);
      if (loss !== undefined) this.#noteStoreLoss(this.#redis, loss);
    },
    'stall store': ({ stallMs }) => {
      this.#redis?.stall(stallMs);
      this.#say('store', `hangs for ${stallMs} ms`);
    },
    'cut store': ({ replica }) => {
      const process = this.#slots[replica]?.process;
      if (process === undefined) return;
      this.#redis?.cut(process);
      this.#say(process.name, 'loses its connections to the store');
    },
    'lose follower': () => {
      if (this.#redis?.loseFollower()) this.#say('store', 'loses a follower');
    },
    'add followers': () => {
      this.#redis?.addFollowers();
      this.#say('store', 'has all its followers');
    },
  };

  async play(event: Event): Promise<void> {
    await this.#time.advance(event.gapMs, this.reap);
    this.reap();
    this.#cover(event);
    await this.#plays[event.kind](event);
    await settled();
    this.reap();
  }
  async #settle(): Promise<void> {
    const isSettled = () => this.asked.every(({ told }) => told !== undefined);
    await this.#time.advance(MAX_ANSWER_MS, () => this.reap() || isSettled());
  }

  /**
   * All is well again: one gateway serves, every caller sends again what it has sent, and webhooks
   * have time.
   */
  async end(): Promise<void> {
    for (const process of this.#processes) process.dieAt = Number.POSITIVE_INFINITY;
    await this.#settle();
    this.service.trouble = 0;
    if (this.#redis !== undefined) {
      this.#redis.heal();
      await this.#time.advance(NOTICE_MS, this.reap);
    }
    // One that has not heard of a new secret does not know callers by their present names, and one
    // without its file nothing that others keep.
    const first = this.#slots[0];
    const isOld = JSON.stringify(first?.secrets) !== JSON.stringify(this.#secretsWithout());
    if (isOld || this.withoutFile.has(first?.process.name ?? '')) this.#stop(0);
    if (!(await this.#start(0))) {
      await this.#endAll(true);
      // A log may stand beside a copy that was put back.
      this.#disk?.remove('log');
      await this.#accept();
      if (!(await this.#start(0))) {
        this.isStuck = 'no gateway starts any more';
        return;
      }
    }
    const sent = this.asked.filter(({ kind, key }) => kind === 'submit' && key !== null);
    const inputs = new Map(sent.map((one) => [`${one.caller} ${one.input}`, one]));
    for (const { caller, input, key } of inputs.values()) {
      const variant = AMINO.indexOf(input.at(-1) ?? '');
      this.#askWithInput(createEvent('submit', { caller, variant, key: Number(key?.slice('key-'.length)) }));
      await this.#settle();
    }
    // With their tokens, webhooks go on.
    for (const caller of CALLERS) this.#ask(0, { kind: 'list', caller }, LIST);
    await this.#settle();
    if (this.plan.hasWebhooks) await this.#time.advance(900_000, this.reap);
  }
  /** Ends every process; the next history has other files. */
  close(): void {
    for (const process of this.#processes) {
      process.isOver = true;
      for (const close of process.open) close();
    }
  }
}

/**
 * Plays a plan.
 *
 * @param folder - for files, and the socket of Redis
 * @param thread - the number of this thread, for the files and the database that it has alone
 */
export async function playHistory(plan: Plan, folder: string, thread: number): Promise<Outcome> {
  const random = new Random(plan.seed + 0x5eed);
  const time = new VirtualTime(random);
  const powerCuts = plan.events.filter(({ kind }) => kind === 'cut power').length;
  const store =
    plan.store === 'sqlite'
      ? new Disk(join(folder, String(thread)), powerCuts)
      : new RedisStore(folder, thread, time, random, plan.followers);
  const history = new History(plan, time, random, store);
  try {
    for (let replica = 0; replica < plan.replicas; replica += 1)
      await history.play(createEvent('start', { replica }));
    for (const event of plan.events) await history.play(event);
    await history.end();
    return { history, violation: findViolation(history) };
  } finally {
    history.close();
  }
}
