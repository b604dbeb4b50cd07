// The HTTP face of the Batch API: routes, bearer authentication, envelopes.
import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { cancel } from './cancel.ts';
import { list } from './list.ts';
import type { BatchParts } from './lookup.ts';
import { Refusal } from './refusal.ts';
import { listReader, readCancel, readStatus } from './request/lookups.ts';
import { parseBody } from './request/reading.ts';
import { submitReader } from './request/submit.ts';
import { status } from './status.ts';
import { submit } from './submit.ts';
import { type Caller, toCaller } from './tokens.ts';

interface BatchAppParts extends BatchParts {
  /** The tokens that are keys; when absent every token is one. */
  readonly keys: ReadonlySet<string> | undefined;
}

const requestId = (): string => `req_${randomBytes(12).toString('hex')}`;

/** A refusal in its envelope. */
function refuse(
  c: Context,
  { status, message, headers, members }: Refusal,
  { conventions }: BatchParts,
): Response {
  const text = status === 401 && conventions.has('unauthorizedError') ? { error: message } : { message };
  return c.json({ status: 'error', ...text, ...members, request_id: requestId() }, status, headers);
}

/** The JSON value of a request's body. @throws Refusal 400 */
async function readBody(c: Context): Promise<unknown> {
  const type = c.req.header('content-type') ?? 'none';
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new Refusal(
      400,
      `the body: has content type ${type.slice(0, 80)}; send "Content-Type: application/json"`,
    );
  return parseBody(await c.req.text());
}

/** Every Batch route under the prefix. */
export function createBatchApp(parts: BatchAppParts): Hono {
  const app = new Hono();
  const readSubmit = submitReader(parts.limits, parts.wire);
  const readList = listReader(parts.limits, parts.wire);

  const route = (name: string, answer: (caller: Caller, body: unknown) => unknown): void => {
    app.post(`${parts.wire.batchPrefix}/${name}`, async (c) => {
      try {
        const caller = toCaller(c.req.header('authorization'), parts.keys);
        const data = await answer(caller, await readBody(c));
        return c.json({ status: 'success', data, request_id: requestId() });
      } catch (error) {
        if (error instanceof Refusal) return refuse(c, error, parts);
        throw error;
      }
    });
  };

  route('submit', (caller, body) => submit(parts, caller, readSubmit(body)));
  route('list', (caller, body) => list(parts, caller, readList(body)));
  route('status', (caller, body) => status(parts, caller, readStatus(body)));
  route('cancel', (caller, body) => cancel(parts, caller, readCancel(body)));
  return app;
}
