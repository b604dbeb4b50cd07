// The service and the receivers of webhooks. They keep the truth: what was really accepted, read,
// cancelled and received.
import { Dispatcher, errors } from 'undici';
import { ConnectError } from '../../src/upstream/errors.ts';
import type { Life, Random, VirtualTime } from './virtual-time.ts';

/** The outcomes of one Submit. Those with `paid` queue the batch. */
export const FATES = {
  ok: { paid: true, status: 200 },
  slow: { paid: true, status: 200, delayMs: 40_000 },
  late: { paid: true, status: 200, delayMs: 200_000 },
  'answer lost': { paid: true, fault: 'socket' },
  'answer cut': { paid: true, status: 200, fault: 'socket' },
  'answer without id': { paid: true, status: 200, text: '{"status":"success","data":{}}' },
  '500 after': { paid: true, status: 500 },
  '502 after': { paid: true, status: 502, text: '<html>' },
  '408 after': { paid: true, status: 408 },
  '500 before': { paid: false, status: 500 },
  '503 before': { paid: false, status: 503 },
  400: { paid: false, status: 400 },
  401: { paid: false, status: 401 },
  402: { paid: false, status: 402 },
  422: { paid: false, status: 422, text: '{"detail":[{"loc":["body","payload",0],"msg":"no","type":"x"}]}' },
  429: { paid: false, status: 429 },
  'connection closed': { paid: false, fault: 'socket' },
  'no connection': { paid: false, fault: 'connect' },
  silent: { paid: false, delayMs: 300_000, status: 503 },
} as const satisfies Record<string, Reply & { readonly paid: boolean }>;
export type Fate = keyof typeof FATES;

interface Reply {
  readonly status?: number;
  readonly text?: string;
  readonly delayMs?: number;
  /** How the connection ends instead of an answer, or, with a status, in its middle. */
  readonly fault?: 'socket' | 'connect';
}

/** A batch as the service has it. */
export interface TrueBatch {
  readonly id: string;
  readonly token: string;
  /** The input: its letters say which submission it is of. */
  readonly input: string;
  readonly at: number;
  /** The request that sent it. */
  readonly requestId: string;
  readonly endsAt: number;
  cancelledAt: number | undefined;
}

export interface Sent {
  readonly at: number;
  readonly replica: string;
  readonly requestId: string;
}
export interface SentSubmit extends Sent {
  readonly input: string;
  readonly fate: Fate;
  readonly batchId: string | undefined;
}
export interface SentToBatch extends Sent {
  readonly token: string;
  readonly batchId: string;
}
export interface Received {
  readonly at: number;
  readonly url: string;
  readonly id: string;
  readonly batchId: string;
  readonly status: number;
  readonly replica: string;
}

/** How a receiver answers, by its path. */
const RECEIVERS = { ok: [204], flaky: [500, 0, 204], gone: [410], late: [500, 500, 204] } as const;
export const RECEIVER_NAMES = Object.keys(RECEIVERS) as (keyof typeof RECEIVERS)[];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Reads a JSON value at a path; undefined where there is none. */
export const field = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
    value,
  );

export class Service {
  readonly batches = new Map<string, TrueBatch>();
  readonly submits: SentSubmit[] = [];
  readonly polls: SentToBatch[] = [];
  readonly cancels: SentToBatch[] = [];
  readonly received: Received[] = [];
  /** The fates of the next submissions, by their requests. */
  readonly fates = new Map<string, Fate>();
  /** How long batches take. */
  batchMs = 60_000;
  /** The share of reads that fail. */
  trouble = 0;
  readonly time: VirtualTime;
  readonly random: Random;
  /** Is told what happens. */
  readonly #tell: (replica: string, what: string) => void;

  constructor(time: VirtualTime, random: Random, tell: (replica: string, what: string) => void) {
    this.time = time;
    this.random = random;
    this.#tell = tell;
  }

  #submit(replica: string, token: string, requestId: string, body: unknown): Reply {
    const input = text(field(body, 'payload', 0, 'all_atom_input', 'sequences', 0, 'sequence'));
    const fate = this.fates.get(requestId) ?? 'ok';
    const { paid, ...reply }: Reply & { readonly paid: boolean } = FATES[fate];
    const at = this.time.now;
    const id = paid ? `b${this.batches.size + 1}` : undefined;
    this.submits.push({ at, replica, requestId, input, fate, batchId: id });
    this.#tell(replica, `Submit of ${input}: ${fate}${id === undefined ? '' : `, queued as ${id}`}`);
    if (id === undefined) return reply;
    const endsAt = at + this.batchMs * (0.5 + this.random.next());
    this.batches.set(id, { id, token, input, at, requestId, endsAt, cancelledAt: undefined });
    const data = { message: 'queued', batch_id: id, total_items: 1, task_id: `${id}-task` };
    return reply.status !== 200 || 'text' in reply
      ? reply
      : { ...reply, text: JSON.stringify({ status: 'success', data, request_id: requestId }) };
  }

  #state({ endsAt, cancelledAt }: TrueBatch): string {
    if (cancelledAt !== undefined) return 'cancelled';
    if (this.time.now >= endsAt) return 'done';
    return this.time.now >= endsAt - this.batchMs / 2 ? 'in_progress' : 'queued';
  }

  #batch(replica: string, token: string, requestId: string, operation: string, body: unknown): Reply {
    const batchId = text(field(body, 'batch_id'));
    const batch = this.batches.get(batchId);
    const sent = { at: this.time.now, replica, requestId, token, batchId };
    (operation === 'list' ? this.polls : this.cancels).push(sent);
    if (batch === undefined || batch.token !== token)
      return { status: 404, text: JSON.stringify({ status: 'error', message: 'no such batch' }) };
    if (this.random.chance(this.trouble))
      return this.random.pick<Reply>([
        { status: 500 },
        { fault: 'socket' },
        { status: 200, delayMs: 60_000 },
      ]);
    const state = this.#state(batch);
    if (operation === 'cancel') {
      this.#tell(replica, `Cancel of ${batchId}`);
      if (state !== 'queued' && state !== 'cancelled')
        return { status: 409, text: JSON.stringify({ status: 'error', message: 'nothing to cancel' }) };
      batch.cancelledAt ??= this.time.now;
      return { status: 200, text: JSON.stringify({ status: 'success', data: { cancelled: 1 } }) };
    }
    const hasEnded = state === 'done' || state === 'cancelled';
    const items = [{ task_id: `${batchId}-task`, status: state }];
    const data = {
      ...{ batch_id: batchId, status: hasEnded ? state : 'in_progress', counts: { [state]: 1 } },
      ...(field(body, 'include_responses') === true ? { items, cursor: null } : {}),
    };
    return { status: 200, text: JSON.stringify({ status: 'success', data }) };
  }

  #receive(replica: string, url: string, id: string, body: unknown): Reply {
    const batchId = text(field(body, 'data', 'batchId'));
    const name = RECEIVER_NAMES.find((known) => new URL(url).pathname.startsWith(`/${known}`)) ?? 'ok';
    const answers: readonly number[] = RECEIVERS[name];
    const before = this.received.filter((one) => one.url === url && one.id === id).length;
    const status = answers[Math.min(before, answers.length - 1)] ?? 204;
    this.received.push({ at: this.time.now, url, id, batchId, status, replica });
    this.#tell(replica, `webhook of ${batchId} to ${url}: ${status === 0 ? 'cut' : status}`);
    return status === 0 ? { fault: 'socket' } : { status, text: '' };
  }

  /** Answers a request, and changes the state. */
  ask(replica: string, { origin, path, headers, body }: Dispatcher.DispatchOptions): Reply {
    const given = Object.fromEntries(Object.entries(headers ?? {}));
    const json: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
    if (String(origin) !== SERVICE_URL)
      return this.#receive(replica, `${origin}${path}`, text(given['webhook-id']), json);
    const operation = path.slice(path.lastIndexOf('/') + 1);
    const token = text(given.authorization).slice('Bearer '.length);
    const requestId = text(given['x-request-id']);
    if (operation === 'submit') return this.#submit(replica, token, requestId, json);
    return this.#batch(replica, token, requestId, operation, json);
  }
}

export const SERVICE_URL = 'https://service.example.org';

/** The end of a process at one of its effects, for a kill at any await. */
export interface Effects {
  /** Is called before and after each effect; throws when the process has ended. */
  pass(): void;
}

interface NamedProcess extends Life, Effects {
  readonly name: string;
}

/** The network of one process. */
export class Network extends Dispatcher {
  readonly #service: Service;
  readonly #process: NamedProcess;
  constructor(service: Service, process: NamedProcess) {
    super();
    this.#service = service;
    this.#process = process;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { time, random } = this.#service;
    const life = this.#process;
    if (life.isOver) return true;
    life.pass();
    let hasEnded = false;
    const headersMs = options.headersTimeout ?? 300_000;
    const soon = 1 + random.below(40);
    const fail = (error: Error) => {
      if (hasEnded || life.isOver) return;
      hasEnded = true;
      handler.onResponseError?.(controller, error);
    };
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      reason: null,
      paused: false,
      rawHeaders: null,
      rawTrailers: null,
      abort: fail,
      pause: () => undefined,
      resume: () => undefined,
    };
    handler.onRequestStart?.(controller, {});
    time.after(soon, () => {
      // Once it is on its way, a request arrives also when its sender has ended or given up.
      const reply = this.#service.ask(life.name, options);
      const { status = 0, fault, text: content = '{"status":"error","message":"trouble"}' } = reply;
      const delayMs = Math.min(reply.delayMs ?? soon, headersMs);
      time.after(delayMs, () => {
        if (hasEnded || life.isOver) return;
        if (fault === 'connect') return fail(new ConnectError(new Error('refused')));
        if ((reply.delayMs ?? 0) > headersMs) return fail(new errors.HeadersTimeoutError());
        if (status !== 0)
          handler.onResponseStart?.(controller, status, { 'content-type': 'application/json' }, '');
        if (fault !== undefined) return fail(new errors.SocketError('closed'));
        if (content !== '') handler.onResponseData?.(controller, Buffer.from(content));
        if (hasEnded) return;
        hasEnded = true;
        handler.onResponseEnd?.(controller, {});
      });
    });
    return true;
  }
  override close(): Promise<void> {
    return Promise.resolve();
  }
}
