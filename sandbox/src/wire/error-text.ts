// Moves the text of a refusal to the field that the settings name.
import type { MiddlewareHandler } from 'hono';
import type { Routes } from '../routes.ts';
import type { WireSettings } from './settings.ts';

const FIELDS = ['message', 'error', 'detail'];

/**
 * Refusals of the operations have their text under `field`; lists of validation problems and
 * unknown routes stay as they are.
 */
export function withErrorText(
  field: WireSettings['errorText'],
  { findOperation }: Routes,
): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (field === undefined || c.res.status < 400) return;
    if (findOperation(c.req.method, c.req.path) === undefined) return;
    const text = await c.res.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const { status, headers } = c.res;
    const moved =
      typeof body === 'object' && body !== null
        ? Object.entries(body).map(([key, value]) => [
            FIELDS.includes(key) && typeof value === 'string' ? field : key,
            value,
          ])
        : undefined;
    c.res = new Response(moved === undefined ? text : JSON.stringify(Object.fromEntries(moved)), {
      status,
      headers,
    });
  };
}
