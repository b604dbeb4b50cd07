// Faults that a test asks for: what goes wrong with which operation, how often, and how it is done
// to an answer.
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import { z } from 'zod';
import type { Routes } from './routes.ts';

/** The fault that a control request asks for. */
export const faultRule = z
  .strictObject({
    /** An operation's name, or `*` for every one. */
    operation: z.string().min(1).max(40),
    /** How many requests it hits. */
    times: z.int().min(1).max(1_000_000).default(1),
    /** Milliseconds of waiting before anything else. */
    delay_ms: z.int().min(0).max(600_000).default(0),
    /** Answers this instead of running the operation. */
    status: z.int().min(200).max(599).optional(),
    headers: z.record(z.string(), z.string()).default({}),
    /** A string is sent as it is, anything else as JSON. */
    body: z.unknown().optional(),
    /**
     * `reset` closes the connection before the operation runs; the others run it and spoil the
     * answer.
     */
    spoil: z.enum(['reset', 'truncate', 'garbage', 'drip']).optional(),
    /** For `drip`: bytes at a time, and the milliseconds between them. */
    drip_bytes: z.int().min(1).default(64),
    drip_ms: z.int().min(0).max(60_000).default(50),
    /** For `submit`: this many items are queued, then it breaks off with a 500. */
    break_off_after: z.int().min(0).max(2000).optional(),
  })
  .refine((rule) => rule.break_off_after === undefined || rule.operation === 'submit', {
    error: 'break_off_after belongs to operation "submit"',
  });

type Fault = z.output<typeof faultRule>;

export interface Faults {
  add(rule: Fault): void;
  all(): readonly Fault[];
  clear(): void;
  /** The next fault of a request, used up by asking. */
  next(operation: string): Fault | undefined;
  /** How many items the next Submit queues before it breaks off. */
  nextBreakOff(): number | undefined;
}

/** The faults in force, in the order they were asked for. */
export function createFaults(): Faults {
  let rules: Fault[] = [];
  const take = (fits: (rule: Fault) => boolean): Fault | undefined => {
    const found = rules.find(fits);
    rules = rules.flatMap((rule) => {
      if (rule !== found) return [rule];
      return rule.times > 1 ? [{ ...rule, times: rule.times - 1 }] : [];
    });
    return found;
  };
  return {
    add(rule) {
      rules.push(rule);
    },
    all: () => rules,
    clear() {
      rules = [];
    },
    next: (operation) =>
      take(
        (rule) =>
          rule.break_off_after === undefined && (rule.operation === operation || rule.operation === '*'),
      ),
    nextBreakOff: () => take((rule) => rule.break_off_after !== undefined)?.break_off_after,
  };
}

/** Sends an answer in a spoilt form, past the framework. */
async function spoil(answer: Response, rule: Fault, { outgoing, incoming }: HttpBindings): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  const headers = { ...Object.fromEntries(answer.headers), 'content-length': String(body.length) };
  outgoing.writeHead(answer.status, headers);
  if (rule.spoil === 'garbage') outgoing.end(Buffer.alloc(body.length, '{"\u0000<%'));
  else if (rule.spoil === 'truncate')
    outgoing.write(body.subarray(0, body.length >> 1), () => incoming.socket.destroy());
  else {
    for (let at = 0; at < body.length && !outgoing.destroyed; at += rule.drip_bytes) {
      outgoing.write(body.subarray(at, at + rule.drip_bytes));
      await sleep(rule.drip_ms);
    }
    outgoing.end();
  }
}

/** Does to each answer what the next fault of its operation says. The control routes are spared. */
export function withFaults(
  faults: Faults,
  { findOperation }: Routes,
): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (c, next) => {
    const operation = findOperation(c.req.method, c.req.path) ?? '';
    const rule = operation === 'control' ? undefined : faults.next(operation);
    if (rule === undefined) return next();
    if (rule.delay_ms > 0) await sleep(rule.delay_ms);
    if (rule.spoil === 'reset') {
      c.env.incoming.socket.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    }
    if (rule.status === undefined) await next();
    else {
      const text =
        typeof rule.body === 'string'
          ? rule.body
          : rule.body === undefined
            ? null
            : JSON.stringify(rule.body);
      const type = typeof rule.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
      const bodiless = rule.status === 204 || rule.status === 304;
      c.res = new Response(bodiless ? null : text, {
        status: rule.status,
        headers: { ...(text === null ? {} : { 'content-type': type }), ...rule.headers },
      });
    }
    if (rule.spoil !== undefined) {
      await spoil(c.res, rule, c.env);
      c.res = RESPONSE_ALREADY_SENT;
    }
    return undefined;
  };
}
