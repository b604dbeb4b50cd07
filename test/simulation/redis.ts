// Redis in virtual time. The real server executes every command and script; connections, followers,
// failovers and losses are the simulator's, so that a seed decides them.
// It also stands in for src/store/redis-connection.ts in the bundle.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ClientOfflineError, createClient, ErrorReply, type RedisClientType } from '@redis/client';
import * as real from '../../src/store/redis-connection.ts';
import type { Effects } from './service.ts';
import { presentOpener } from './sqlite.ts';
import { createReplicaClock, EPOCH, type Life, type Random, type VirtualTime } from './virtual-time.ts';

export * from '../../src/store/redis-connection.ts';

/** Opens a connection of the process that opens it. @public */
export function openRedis(...[url, onError, onReconnected]: Parameters<typeof real.openRedis>) {
  return real.openRedis(url, onError, onReconnected, presentOpener()?.redis);
}

/** The connection of this thread to the server. */
let server: RedisClientType | undefined;

/** The socket of the server, in which each thread has a database. */
export const redisSocket = (folder: string): string => join(folder, 'redis');

function connectServer(folder: string, database: number): RedisClientType {
  const client = createClient({ socket: { path: redisSocket(folder), tls: false }, database });
  void client.connect();
  return client as RedisClientType;
}

type Reply = { readonly value: unknown } | { readonly error: Error };

interface Command {
  readonly args: readonly string[];
  /** Gives the answer to the process. @returns whether it has taken it */
  answer(reply: Reply): boolean;
}

/** A connection as the server has it. */
interface Link {
  readonly process: Life;
  readonly queue: Command[];
  host: 'present' | 'gone' | 'demoted';
  isBusy: boolean;
  /** How long the log was after the last write. */
  lastWrite: number;
  /** Closes it at the other end. */
  readonly close: (error: Error) => void;
}

interface Written {
  readonly at: number;
  readonly args: readonly string[];
  readonly process: Life;
  /** Whether the process was told. */
  isAnswered: boolean;
}

interface Follower {
  readonly lagMs: number;
  isConnected: boolean;
  /** How much of the log it had when it was cut off. */
  seen: number;
}

/** A loss of writes. */
export interface Loss {
  readonly isEmpty: boolean;
  /** Processes that knew the ledger. */
  readonly knowers: ReadonlySet<Life>;
  /** Lost claims of keys: their processes, and the names of their keys in the store. */
  readonly claims: readonly { readonly process: Life; readonly place: string; readonly at: number }[];
}

const LAGS_MS = [0, 0, 1, 5, 30, 150, 700] as const;
const CONNECT_TIMEOUT_MS = 1_500;
const WRITES = /redis\.call\('(?:SET|HSET|DEL|RENAME|SADD|PEXPIRE)/;
const never = new Promise<never>(() => undefined);

export class RedisStore {
  readonly url = 'redis://store.example.org:6379';
  /** How far its clock is ahead. */
  skewMs = 0;
  /** The share of commands that are late, or whose connection is lost before or after them. */
  trouble = 0;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #server: RedisClientType;
  /** All writes since the beginning. */
  #log: Written[] = [];
  readonly #followerCount: number;
  #followers: Follower[] = [];
  /** The scripts that this host has, by their digests. */
  readonly #scripts = new Map<string, string>();
  readonly #links = new Set<Link>();
  #stalledUntil = 0;
  /** Failovers, restarts and stalls so far. */
  eventCount = 0;

  constructor(folder: string, thread: number, time: VirtualTime, random: Random, followers: number) {
    server ??= connectServer(folder, thread);
    this.#server = server;
    this.#time = time;
    this.#random = random;
    this.#followerCount = followers;
    this.addFollowers();
    void this.#ask(['FLUSHDB']);
  }

  now(): number {
    return EPOCH + Math.round(this.#time.now) + this.skewMs;
  }
  get isStalled(): boolean {
    return this.#time.now < this.#stalledUntil;
  }

  /** Gives a process its clock and its clients. */
  createPlatform(process: Life & Effects): real.RedisPlatform {
    const clock = createReplicaClock(this.#time, this.#random, process, () => 0);
    const createClient = (url: string, reconnectMs: (tries: number) => number) =>
      this.#createClient(url, reconnectMs, process, clock);
    return { clock, createClient };
  }

  #createClient(
    url: string,
    reconnectMs: (tries: number) => number,
    process: Life & Effects,
    { after }: real.RedisPlatform['clock'],
  ): RedisClientType {
    const client = createClient({ url }) as RedisClientType;
    let link: Link | undefined;
    let isOpen = false;
    /** Connections that were closed or given up so far. */
    let epoch = 0;
    const waiting = new Set<(error: Error) => void>();

    const leave = (error: Error): void => {
      epoch += 1;
      link = undefined;
      const lost = [...waiting];
      waiting.clear();
      for (const fail of lost) fail(error);
    };
    const connect = (tries: number): void => {
      const mine = epoch;
      const fail = () => {
        if (mine !== epoch) return;
        client.emit('error', new Error('connect ETIMEDOUT'));
        after(reconnectMs(tries), () => mine === epoch && connect(tries + 1));
      };
      after(1 + this.#random.below(5), () => {
        if (mine !== epoch) return;
        if (this.isStalled) {
          after(CONNECT_TIMEOUT_MS, fail);
          return;
        }
        link = this.#link(process, (error) => {
          if (process.isOver || mine !== epoch) return;
          leave(error);
          client.emit('error', error);
          connect(0);
        });
        client.emit('ready');
      });
    };
    const methods = {
      connect() {
        isOpen = true;
        connect(0);
        return Promise.resolve(client);
      },
      destroy() {
        isOpen = false;
        leave(new Error('Disconnects client'));
      },
      unref: () => undefined,
      sendCommand: (args: readonly string[]): Promise<unknown> => {
        if (process.isOver) return never;
        process.pass();
        const present = link;
        if (present === undefined) return Promise.reject(new ClientOfflineError());
        const mine = epoch;
        return new Promise((resolve, reject) => {
          waiting.add(reject);
          const answer = (reply: Reply): boolean => {
            if (process.isOver || mine !== epoch) return false;
            waiting.delete(reject);
            try {
              process.pass();
            } catch {
              return false;
            }
            if ('error' in reply) reject(reply.error);
            else resolve(reply.value);
            return true;
          };
          present.queue.push({ args, answer });
          this.#serve(present);
        });
      },
    };
    for (const [name, value] of Object.entries(methods)) Object.defineProperty(client, name, { value });
    Object.defineProperty(client, 'isOpen', { get: () => isOpen });
    Object.defineProperty(client, 'isReady', { get: () => link !== undefined });
    return client;
  }

  #link(process: Life, close: Link['close']): Link {
    const link: Link = { process, queue: [], host: 'present', isBusy: false, lastWrite: 0, close };
    this.#links.add(link);
    return link;
  }
  #cut(link: Link): void {
    link.host = 'gone';
    this.#links.delete(link);
    link.close(new Error('Socket closed unexpectedly'));
  }

  /** Executes the commands of a connection in their order, also when its process has given up. */
  #serve(link: Link): void {
    const [command] = link.queue;
    if (link.isBusy || command === undefined) return;
    link.isBusy = true;
    const { args } = command;
    const fate = this.#random.chance(this.trouble)
      ? this.#random.pick(['cut before', 'cut after', 'late', 'late answer'])
      : 'fine';
    const lateMs = 1 + this.#random.below(4_000);
    let executed: Written | undefined;
    const answer = (reply: Reply): void => {
      link.isBusy = false;
      link.queue.shift();
      const isTaken = link.host !== 'gone' && command.answer(reply);
      if (executed !== undefined) executed.isAnswered = isTaken;
      this.#serve(link);
    };
    const wait = (until: number): void => {
      const acknowledged = this.#followers.filter((one) => this.#seen(one) >= link.lastWrite).length;
      if (link.host === 'gone') return;
      if (link.host === 'demoted') answer({ error: new ErrorReply('UNBLOCKED instance state changed') });
      else if (acknowledged >= Number(args[1]) || this.#time.now >= until) answer({ value: acknowledged });
      else this.#time.after(10, () => wait(until));
    };
    const run = async (): Promise<void> => {
      if (this.isStalled) {
        this.#time.after(this.#stalledUntil - this.#time.now, run);
        return;
      }
      if (link.host === 'gone') return;
      if (fate === 'cut before') return this.#cut(link);
      if (link.host === 'demoted')
        return answer({ error: new ErrorReply("READONLY You can't write against a read only replica.") });
      if (args[0] === 'WAIT') return wait(this.#time.now + Number(args[2]));
      const before = this.#log.length;
      const reply = await this.#execute(link, args);
      executed = this.#log[before];
      if (fate === 'cut after') return this.#cut(link);
      if (fate === 'late answer') this.#time.after(lateMs, () => answer(reply));
      else answer(reply);
    };
    this.#time.after(1 + this.#random.below(3) + (fate === 'late' ? lateMs : 0), run);
  }

  async #execute(link: Link, given: readonly string[]): Promise<Reply> {
    const [name = '', script = '', count = ''] = given;
    if (name === 'PING') return { value: 'PONG' };
    if (name === 'CONFIG') return { value: ['appendonly', 'yes'] };
    if (name === 'ROLE')
      return { value: ['master', 0, this.#followers.filter(({ isConnected }) => isConnected).map(() => [])] };
    const isScript = name === 'EVAL' || name === 'EVALSHA';
    if (name === 'EVAL') this.#scripts.set(createHash('sha1').update(script).digest('hex'), script);
    const text = name === 'EVALSHA' ? this.#scripts.get(script) : script;
    if (text === undefined) return { error: new ErrorReply('NOSCRIPT No matching script.') };
    // The time is that of the server at this moment.
    const place = isScript ? 3 + Number(count) : -1;
    const rest = given.map((arg, i) => (i === place && /^\d{13}$/.test(arg) ? String(this.now()) : arg));
    const args = isScript ? ['EVAL', text, ...rest.slice(2)] : rest;
    const reply = await this.#ask(args);
    const isWrite = isScript ? WRITES.test(text) : name === 'SET' || name === 'HSET';
    if (isWrite && 'value' in reply) {
      this.#log.push({ at: this.#time.now, args, process: link.process, isAnswered: false });
      link.lastWrite = this.#log.length;
    }
    if (!('value' in reply) || !Array.isArray(reply.value)) return reply;
    // The order in a set is another one in each server.
    if (isScript && text.includes('SMEMBERS')) reply.value.sort();
    if (name === 'SCAN' && Array.isArray(reply.value[1])) reply.value[1].sort();
    return reply;
  }
  /** Asks the real server. */
  #ask(args: readonly string[]): Promise<Reply> {
    return this.#server.sendCommand(args).then(
      (value) => ({ value }),
      (error: Error) => ({ error }),
    );
  }

  /** How much of the log a follower has. */
  #seen({ isConnected, lagMs, seen }: Follower): number {
    if (!isConnected) return seen;
    const late = this.#log.findLastIndex(({ at }) => at + lagMs <= this.#time.now);
    return Math.max(seen, late + 1);
  }
  /** Goes on with the beginning of the log, as another host or another process. */
  async #restart(kept: readonly Written[], host: 'gone' | 'demoted', isSilent: boolean): Promise<void> {
    this.eventCount += 1;
    for (const link of [...this.#links]) {
      if (host === 'gone' && !isSilent) this.#cut(link);
      else link.host = host;
      this.#links.delete(link);
    }
    this.#scripts.clear();
    const isShorter = kept.length < this.#log.length;
    this.#log = [...kept];
    if (!isShorter) return;
    await this.#ask(['FLUSHDB']);
    await Promise.all(this.#log.map(({ args }) => this.#ask(args)));
  }

  /** Makes the newest follower the primary. @returns how many writes it lacks, if there is one */
  async failOver(end: 'closed' | 'silent' | 'demoted', rejoinMs: number | null): Promise<number | undefined> {
    const [best] = [...this.#followers].sort((a, b) => this.#seen(b) - this.#seen(a));
    if (best === undefined) return undefined;
    const kept = this.#log.slice(0, this.#seen(best));
    const lost = this.#log.length - kept.length;
    this.#followers = [];
    await this.#restart(kept, end === 'demoted' ? 'demoted' : 'gone', end === 'silent');
    if (rejoinMs !== null) this.#time.after(rejoinMs, () => this.addFollowers());
    return lost;
  }
  /** Starts the server again, on what its log had. @returns what is lost; undefined for nothing */
  async restart(lostMs: number): Promise<Loss | undefined> {
    // A primary with followers writes its log at once.
    const since = this.#followerCount > 0 ? Number.POSITIVE_INFINITY : this.#time.now - lostMs;
    const kept = this.#log.filter(({ at }) => at <= since);
    const log = this.#log;
    await this.#restart(kept, 'gone', false);
    if (kept.length === log.length) return undefined;
    const runs = ({ args: [, script = ''], isAnswered }: Written, text: string) =>
      isAnswered && script.includes(text);
    const knowing = log.filter((one) => runs(one, 'newest'));
    const claims = log.slice(kept.length).filter((one) => runs(one, "'pending', 'hash'"));
    return {
      isEmpty: kept.length === 0,
      knowers: new Set(knowing.map(({ process }) => process)),
      claims: claims.map(({ process, args, at }) => ({ process, place: args[3] ?? '', at })),
    };
  }
  stall(milliseconds: number): void {
    this.eventCount += 1;
    this.#stalledUntil = this.#time.now + milliseconds;
  }
  /** Ends all trouble. */
  heal(): void {
    this.trouble = 0;
    this.#stalledUntil = 0;
    this.#followers = [];
    this.addFollowers(0);
  }
  /** Closes the connections of a process. */
  cut(process: Life): void {
    for (const link of [...this.#links]) if (link.process === process) this.#cut(link);
  }
  /** Followers come, with all that was written. */
  addFollowers(lagMs?: number): void {
    for (const one of this.#followers) one.isConnected = true;
    while (this.#followers.length < this.#followerCount)
      this.#followers.push({
        ...{ lagMs: lagMs ?? this.#random.pick(LAGS_MS), isConnected: true },
        seen: this.#log.length,
      });
  }
  /** Whether the mark of the ledger tells of followers. */
  get #isFollowed(): boolean {
    const marks = this.#log.flatMap(({ args }) => args.filter((arg) => arg.includes('"hasReplicas"')));
    return marks.at(-1)?.includes('"hasReplicas":true') === true;
  }
  /**
   * A follower is cut off that gateways know of.
   *
   * @returns false where none is connected
   */
  loseFollower(): boolean {
    const one = this.#followers.find(({ isConnected }) => isConnected);
    if (one === undefined || !this.#isFollowed) return false;
    one.seen = this.#seen(one);
    one.isConnected = false;
    return true;
  }
}
