// Plays the events of a plan over real gateways, and writes down what callers were told.
import { join } from 'node:path';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { Disk } from './disk.ts';
import { findViolation, type Violation } from './judge.ts';
import { CALLERS, type CallerName, type Event, eventName, LEDGER_LOST, type Plan } from './plan.ts';
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
  readonly hasLeft: boolean;
  told: Told | undefined;
}

export interface Line {
  readonly at: number;
  readonly where: string;
  readonly what: string;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The history as the judge sees it. */
export interface History {
  readonly plan: Plan;
  readonly service: Service;
  readonly asked: readonly Asked[];
  readonly lines: readonly Line[];
  /**
   * Between these times the ledger need not know what it knew before `from`: an operator has
   * accepted a loss, or no gateway can notice it.
   */
  readonly givenUp: readonly Span[];
  /** From when on the ledger lacked a paid key, until it was accepted. */
  readonly losses: readonly Span[];
  /** When documents may have been lost with the file of the ledger. */
  readonly filesLostAt: readonly number[];
  /** Pairs of an event and the state of a key that it met. */
  readonly coverage: readonly string[];
  readonly hasClockSet: boolean;
  /** When a power cut may have taken snapshots back, which are read again. */
  readonly powerCutAt: readonly number[];
  /** When a gateway stopped in order: a poll without an answer yet is given up. */
  readonly stoppedAt: readonly number[];
  /** Why nothing serves in the end. */
  readonly isStuck: string | undefined;
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

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

class World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly service: Service;
  readonly #disk: Disk | undefined;
  readonly #redis: RedisStore | undefined;
  readonly asked: Asked[] = [];
  readonly lines: Line[] = [];
  readonly givenUp: { from: number; to: number }[] = [];
  readonly losses: { from: number; to: number }[] = [];
  readonly filesLostAt: number[] = [];
  readonly powerCutAt: number[] = [];
  readonly stoppedAt: number[] = [];
  readonly coverage: string[] = [];
  readonly #slots: (Replica | undefined)[] = [];
  readonly #processes = new Set<Process>();
  readonly #leaving: Promise<void>[] = [];
  readonly #secrets: string[] = ['secret-0-of-this-simulated-world'];
  /** How far the clock of each slot is ahead; with SQLite all have one. */
  readonly #skewsMs = [0, 0, 0];
  #processCount = 0;
  #backedUpAt: number | undefined;
  isStuck: string | undefined;

  constructor(
    plan: Plan,
    time: VirtualTime,
    random: Random,
    disk: Disk | undefined,
    redis: RedisStore | undefined,
  ) {
    this.plan = plan;
    this.random = random;
    this.time = time;
    this.#disk = disk;
    this.#redis = redis;
    if (redis !== undefined) redis.trouble = plan.storeTrouble;
    this.service = new Service(this.time, this.random, (where, what) => this.#say(where, what));
    this.service.trouble = plan.trouble;
  }
  get #ledgerUrl(): string {
    return (this.#redis ?? this.#disk)?.url ?? '';
  }
  #skewMs(slot: number): number {
    return this.#skewsMs[this.#redis === undefined ? 0 : slot] ?? 0;
  }
  #createProcess(name: string): Process {
    const process = new Process(name, () => this.#disk?.save());
    this.#processes.add(process);
    const platform = this.#redis?.createPlatform(process);
    if (platform !== undefined) process.redis = platform;
    return process;
  }
  #open<T>(process: Process, work: () => T): T {
    return this.#disk === undefined ? openedBy(process, work) : this.#disk.open(process, work);
  }
  /** Lets time pass until work is done. */
  async #await<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    await this.time.advance(60_000, () => this.reap() || isDone);
    if (!isDone) throw new Error('it does not end');
    return work;
  }

  #say(where: string, what: string): void {
    this.lines.push({ at: this.time.now, where, what });
  }
  #secretsOf(forgotten?: number): Secrets {
    const current = this.#secrets.at(-1) ?? '';
    const previous = this.#secrets.slice(0, -1).filter((_, index) => index !== forgotten);
    return { current, previous };
  }

  /** Takes note of processes that have ended at one of their effects. */
  readonly reap = (): boolean => {
    for (const process of this.#processes) {
      if (!process.isOver) continue;
      this.#processes.delete(process);
      this.#disk?.end(process);
      if (process.dieAt < Number.POSITIVE_INFINITY)
        this.#say(process.name, `killed at effect ${process.effects}`);
      for (const asked of this.asked)
        if (asked.replica === process.name && asked.told === undefined) this.#tell(asked, { type: 'cut' });
      const slot = this.#slots.findIndex((replica) => replica?.process === process);
      if (slot !== -1) this.#slots[slot] = undefined;
    }
    return false;
  };

  #tell(asked: Asked, told: Partial<Told> & { readonly type: string }): void {
    asked.told = { at: this.time.now, batchIds: [], isReplayed: false, warnings: [], text: '', ...told };
    const { type, batchIds, isReplayed, warnings, text } = asked.told;
    const more = [isReplayed ? 'replayed' : '', ...batchIds, ...warnings, text].filter((part) => part !== '');
    this.#say(asked.replica, `${asked.caller} is told ${[type, ...more].join(' ')} (${asked.id})`);
  }

  async #start(slot: number, secrets = this.#secretsOf()): Promise<boolean> {
    if (this.#slots[slot] !== undefined) return true;
    this.#processCount += 1;
    const process = this.#createProcess(`${'ABC'[slot] ?? '?'}${this.#processCount}`);
    const { time, random, service, plan } = this;
    const redis = this.#redis;
    try {
      const replica = new Replica({
        ...{ process, time, random, service, secrets, ledgerUrl: this.#ledgerUrl },
        ...{ isShared: plan.isShared, hasWebhooks: plan.hasWebhooks, skew: () => this.#skewMs(slot) },
        storeNow: redis && (() => redis.now()),
        open: (work) => this.#open(process, work),
      });
      this.#slots[slot] = replica;
      if (!(await this.#await(replica.start()))) throw new Error('it does not start with these secrets');
      this.#say(process.name, 'starts');
      return true;
    } catch (error) {
      this.#say(
        process.name,
        `cannot start: ${error instanceof Error ? error.message.slice(0, 90) : String(error)}`,
      );
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
    this.stoppedAt.push(this.time.now);
    this.#leaving.push(replica.stop());
  }
  /** Ends all processes, in order or not. */
  async #endAll(isKilled: boolean): Promise<void> {
    for (let slot = 0; slot < this.plan.replicas; slot += 1) if (!isKilled) this.#stop(slot);
    if (!isKilled) await this.time.advance(40_000, () => this.reap() || this.#processes.size === 0);
    for (const process of this.#processes) process.isOver = true;
    this.reap();
  }
  #kill(process: Process): void {
    this.#say(process.name, 'is killed');
    process.isOver = true;
    this.reap();
  }

  /** Whether a key was paid that the ledger does not know since then. */
  #isPaidSince(from: number): boolean {
    return this.service.submits.some(
      ({ at: sentAt, requestId }) =>
        sentAt > from && this.asked.some(({ id, key }) => id === requestId && key !== null),
    );
  }
  #noteLoss(since: number): void {
    this.filesLostAt.push(this.time.now);
    if (this.#isPaidSince(since)) this.losses.push({ from: this.time.now, to: Number.POSITIVE_INFINITY });
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
    const from = this.time.now;
    const unnoticed = { from, to: Number.POSITIVE_INFINITY };
    const knowers = this.#knowers(loss);
    this.filesLostAt.push(from);
    this.givenUp.push(unnoticed);
    const look = (eventCount: number) => {
      if (!knowers.some(({ isOver }) => !isOver)) return;
      if (eventCount === redis.eventCount && !redis.isStalled) {
        unnoticed.to = this.time.now;
        this.losses.push({ from: this.time.now, to: Number.POSITIVE_INFINITY });
      } else this.time.after(NOTICE_MS, () => look(redis.eventCount));
    };
    this.time.after(NOTICE_MS, () => look(redis.eventCount));
  }
  async #accept(): Promise<void> {
    const process = this.#createProcess('operator');
    try {
      const now = () => this.#redis?.now() ?? EPOCH + Math.round(this.time.now) + this.#skewMs(0);
      const accepting = this.#open(process, () => {
        const ledger = openLedger(this.#ledgerUrl, this.#secretsOf(), { now });
        return openedBy(process, () => ledger.accept()).finally(() => ledger.close());
      });
      const isAccepted = await this.#await(accepting);
      this.#say('operator', isAccepted ? 'accepts the ledger' : 'has nothing to accept');
      if (isAccepted) {
        this.givenUp.push({ from: this.time.now, to: Number.POSITIVE_INFINITY });
        for (const loss of this.losses) loss.to = Math.min(loss.to, this.time.now);
      }
    } catch (error) {
      this.#say(
        'operator',
        `cannot accept: ${error instanceof Error ? error.message.slice(0, 90) : String(error)}`,
      );
    }
    process.isOver = true;
    this.reap();
  }

  /** A replica that takes requests: the wanted one, else another. */
  #serving(wanted: number): Replica | undefined {
    const order = [wanted, 0, 1, 2].map((slot) => this.#slots[slot]);
    return order.find((replica) => replica?.isServing === true && !replica.process.isOver);
  }
  #ask(
    wanted: number,
    what: Pick<Asked, 'kind' | 'caller'> & Partial<Asked>,
    query: string,
    variables: (id: string) => CallerRequest['variables'],
    leavesMs: number | null = null,
  ): void {
    const replica = this.#serving(wanted);
    if (replica === undefined) return;
    const id = `op-${String(this.asked.length + 1).padStart(6, '0')}`;
    const { process } = replica;
    const place = { id, at: this.time.now, replica: process.name };
    const asked: Asked = {
      key: null,
      input: '',
      url: null,
      hasLeft: leavesMs !== null,
      told: undefined,
      ...what,
      ...place,
    };
    this.asked.push(asked);
    const leaving = new AbortController();
    if (leavesMs !== null) this.time.after(leavesMs, () => leaving.abort());
    const request = { id, caller: asked.caller, query, variables: variables(id), signal: leaving.signal };
    if (asked.kind === 'watch') {
      this.time.after(120_000, () => leaving.abort());
      replica.watch(request).then(
        () => this.#tell(asked, { type: 'ended' }),
        () => this.#tell(asked, { type: 'ended' }),
      );
      return;
    }
    replica.answer(request).then(
      (result) => {
        if (process.isOver || asked.told !== undefined) return;
        const root = Object.values(result.data ?? {})[0];
        const warnings = list(field(root, 'warnings'));
        const batchIds = [
          field(root, 'batch', 'batchId'),
          field(root, 'existingBatch', 'batchId'),
          ...list(field(root, 'nodes')).map((node) => field(node, 'batchId')),
          ...warnings.map((warning) => /batch (b\d+)/.exec(String(field(warning, 'message')))?.[1]),
        ].filter((one): one is string => typeof one === 'string');
        const hasFailed = root === undefined || root === null;
        const text = hasFailed ? (result.errors?.[0]?.message ?? '') : String(field(root, 'message') ?? '');
        this.#tell(asked, {
          type: hasFailed ? 'error' : String(field(root, '__typename') ?? asked.kind),
          ...{ batchIds, text, isReplayed: field(root, 'replayed') === true },
          warnings: warnings.map((warning) => String(field(warning, 'code'))),
        });
      },
      (error: unknown) => {
        if (!process.isOver && asked.told === undefined)
          this.#tell(asked, { type: 'error', text: String(error) });
      },
    );
  }

  submit(event: Extract<Event, { kind: 'submit' | 'check' }>): void {
    const { caller, key, variant } = event;
    const letters = [CALLERS.indexOf(caller), key === null ? 19 : key, variant].map(
      (index) => AMINO[index] ?? 'W',
    );
    const input = `MKV${letters.join('')}`;
    const what = { caller, input, key: key === null ? null : `key-${key}` };
    const asked = { items: [{ chains: [{ protein: { sequence: input } }] }], idempotencyKey: what.key };
    if (event.kind === 'check') {
      this.#ask(event.replica, { kind: 'check', ...what }, CHECK, () => ({ input: asked }));
      return;
    }
    const { receiver, fate, leavesMs } = event;
    const url = receiver === null ? null : hookUrl(receiver, `${caller}-${this.asked.length + 1}`);
    const notify = url === null ? {} : { notify: { url } };
    const named = (id: string) => {
      this.service.fates.set(id, fate);
      return { input: { ...asked, ...notify } };
    };
    this.#ask(event.replica, { kind: 'submit', ...what, url }, SUBMIT, named, leavesMs);
  }

  /** The state of a key, for coverage. */
  #keyState(caller: CallerName, key: string): string {
    const of = this.asked.filter((one) => one.kind === 'submit' && one.caller === caller && one.key === key);
    if (of.length === 0) return 'unused';
    if (of.some(({ told }) => told === undefined)) return 'being sent';
    const isPaid = this.service.submits.some(
      ({ batchId, requestId }) => batchId !== undefined && of.some(({ id }) => id === requestId),
    );
    const last = of.at(-1)?.told?.type ?? '';
    const isKnown = of.some(({ told }) => told?.type === 'FoldSubmitted');
    if (isPaid) return `paid${isKnown ? '' : ', not told'}`;
    return last === 'cut' || last === 'OutcomeUnknown' ? 'unknown' : 'refused';
  }
  #cover(event: Event): void {
    const isLost = this.losses.some(({ to }) => to > this.time.now) ? LEDGER_LOST : '';
    const callers = 'caller' in event ? [event.caller] : CALLERS;
    const keys = 'key' in event ? (event.key === null ? [] : [`key-${event.key}`]) : ['key-0', 'key-1'];
    for (const caller of callers)
      for (const key of keys)
        this.coverage.push(`${eventName(event)} × ${this.#keyState(caller, key)}${isLost}`);
  }

  /** Sets the clock of the machine with the file, or that of one of several machines. */
  #setClock(slot: number, hours: number): void {
    const redis = this.#redis;
    if (redis !== undefined && slot === this.plan.replicas) redis.skewMs += hours * HOUR_MS;
    else this.#skewsMs[redis === undefined ? 0 : slot] = this.#skewMs(slot) + hours * HOUR_MS;
    const name =
      redis === undefined ? '' : ` of ${'ABC'[slot] && slot < this.plan.replicas ? 'ABC'[slot] : 'Redis'}`;
    this.#say('operator', `sets the clock${name} by ${hours} h`);
  }

  async #playDisk(disk: Disk, event: Event): Promise<void> {
    switch (event.kind) {
      case 'back up':
        if (!disk.backUp()) break;
        this.#backedUpAt = this.time.now;
        this.#say('operator', 'backs up');
        break;
      case 'restore':
        if (this.#backedUpAt === undefined) break;
        await this.#endAll(event.isKilled || !event.isClean);
        disk.restore(event.isClean);
        this.#noteLoss(this.#backedUpAt);
        this.#say('operator', `puts the copy back${event.isClean ? '' : ' beside the log of before'}`);
        if (event.accepts) await this.#accept();
        await this.#startAll();
        break;
      case 'cut power':
        await this.#endAll(true);
        disk.cutPower();
        this.powerCutAt.push(this.time.now);
        this.#say('operator', 'the power was cut');
        await this.#startAll();
        break;
      case 'remove file':
        disk.remove('ledger', 'log');
        this.#noteLoss(-1);
        this.#say('operator', 'removes the file of the ledger');
        break;
      case 'remove witness':
        await this.#endAll(false);
        disk.remove('witness');
        this.#say('operator', 'removes the file that says how new the ledger is');
        await this.#startAll();
        break;
    }
  }

  async #playRedis(redis: RedisStore, event: Event, replica: Replica | undefined): Promise<void> {
    switch (event.kind) {
      case 'fail over': {
        const lost = await redis.failOver(event.end, event.rejoinMs);
        if (lost !== undefined) this.#say('store', `fails over (${event.end}), without ${lost} writes`);
        this.powerCutAt.push(this.time.now);
        break;
      }
      case 'restart store': {
        const loss = await redis.restart(event.lostMs);
        this.#say(
          'store',
          `starts again${loss === undefined ? '' : `, without the last ${event.lostMs} ms`}`,
        );
        if (loss !== undefined) this.#noteStoreLoss(redis, loss);
        break;
      }
      case 'stall store':
        redis.stall(event.stallMs);
        this.#say('store', `hangs for ${event.stallMs} ms`);
        break;
      case 'cut store':
        if (replica === undefined) break;
        redis.cut(replica.process);
        this.#say(replica.process.name, 'loses its connections to the store');
        break;
      case 'lose follower':
        if (redis.loseFollower()) this.#say('store', 'loses a follower');
        break;
      case 'add followers':
        redis.addFollowers();
        this.#say('store', 'has all its followers');
        break;
    }
  }

  async play(event: Event): Promise<void> {
    await this.time.advance(event.gapMs, this.reap);
    this.reap();
    this.#cover(event);
    const { replica: slot } = event;
    const replica = this.#slots[slot];
    if (this.#redis !== undefined) await this.#playRedis(this.#redis, event, replica);
    if (this.#disk !== undefined) await this.#playDisk(this.#disk, event);
    switch (event.kind) {
      case 'submit':
      case 'check':
        this.submit(event);
        break;
      case 'list':
        this.#ask(slot, { kind: 'list', caller: event.caller }, LIST, () => ({}));
        break;
      case 'cancel':
      case 'watch': {
        const id = [...this.service.batches.keys()][event.batch];
        const query = event.kind === 'cancel' ? CANCEL : WATCH;
        if (id !== undefined)
          this.#ask(slot, { kind: event.kind, caller: event.caller }, query, () => ({ id }));
        break;
      }
      case 'probe':
        if (replica !== undefined)
          this.#say(
            replica.process.name,
            `is asked: ${(await this.#await(replica.probe()).catch(String)) ?? 'ready'}`,
          );
        break;
      case 'kill':
        if (replica === undefined) break;
        if (event.effects === 0) this.#kill(replica.process);
        else replica.process.dieAt = replica.process.effects + event.effects;
        break;
      case 'stop':
        this.#stop(slot);
        break;
      case 'start':
        await this.#start(slot);
        break;
      case 'rotate secret':
      case 'forget secret':
        this.#secrets.push(`secret-${this.#secrets.length}-of-this-simulated-world`);
        this.#say('operator', `makes secret ${this.#secrets.length - 1}`);
        this.#stop(slot);
        await this.#start(
          slot,
          this.#secretsOf(
            event.kind === 'rotate secret'
              ? undefined
              : Math.max(0, this.#secrets.length - 2 - this.random.below(2)),
          ),
        );
        break;
      case 'accept':
        await this.#accept();
        break;
      case 'set clock':
        this.#setClock(event.replica, event.hours);
        break;
      case 'days':
        await this.#endAll(false);
        await this.time.advance(event.hours * HOUR_MS);
        this.#say('operator', `${event.hours} h later`);
        await this.#startAll();
        break;
    }
    await settled();
    this.reap();
  }

  #isSettled(): boolean {
    return this.asked.every(({ told }) => told !== undefined);
  }
  async #settle(): Promise<void> {
    await this.time.advance(MAX_ANSWER_MS, () => this.reap() || this.#isSettled());
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
      await this.time.advance(NOTICE_MS, this.reap);
    }
    // One that has not heard of a new secret does not know callers by their present names.
    if (JSON.stringify(this.#slots[0]?.secrets) !== JSON.stringify(this.#secretsOf())) this.#stop(0);
    if (!(await this.#start(0))) {
      await this.#endAll(true);
      // Without the log that stands beside a copy which was put back.
      this.#disk?.remove('log');
      await this.#accept();
      if (!(await this.#start(0))) {
        this.isStuck = 'no gateway starts any more';
        return;
      }
    }
    const sent = this.asked.filter(({ kind, key }) => kind === 'submit' && key !== null);
    const inputs = new Map(sent.map((one) => [`${one.caller} ${one.input}`, one]));
    for (const one of inputs.values()) {
      const key = Number(one.key?.slice('key-'.length));
      const variant = AMINO.indexOf(one.input.at(-1) ?? '');
      const common = { gapMs: 0, replica: 0, kind: 'submit', caller: one.caller, key, variant } as const;
      this.submit({ ...common, fate: 'ok', receiver: null, leavesMs: null });
      await this.#settle();
    }
    // With their tokens, webhooks go on.
    for (const caller of CALLERS) this.#ask(0, { kind: 'list', caller }, LIST, () => ({}));
    await this.#settle();
    if (this.plan.hasWebhooks) await this.time.advance(900_000, this.reap);
  }
  async close(): Promise<void> {
    for (const process of this.#processes) process.isOver = true;
    this.#disk?.close();
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
  const disk = plan.store === 'sqlite' ? new Disk(join(folder, String(thread)), powerCuts) : undefined;
  const redis =
    plan.store === 'redis' ? await RedisStore.open(folder, thread, time, random, plan.followers) : undefined;
  const world = new World(plan, time, random, disk, redis);
  try {
    await world.play({ kind: 'start', gapMs: 0, replica: 0 });
    for (let replica = 1; replica < plan.replicas; replica += 1)
      await world.play({ kind: 'start', gapMs: 0, replica });
    for (const event of plan.events) await world.play(event);
    await world.end();
    const hasClockSet = plan.events.some(({ kind }) => kind === 'set clock');
    const { service, asked, lines, givenUp, losses, filesLostAt, powerCutAt, stoppedAt, coverage, isStuck } =
      world;
    const met = { givenUp, losses, filesLostAt, powerCutAt, stoppedAt, hasClockSet, isStuck };
    const history = { plan, service, asked, lines, coverage, ...met };
    return { history, violation: findViolation(history) };
  } finally {
    await world.close();
  }
}
