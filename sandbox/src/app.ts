// The whole HTTP face of the sandbox put together: its parts' routes, the index page, and JSON
// answers for paths and methods that do not exist.
import { randomBytes } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { limitBody } from './body-limit.ts';
import { type Faults, withFaults } from './faults.ts';
import type { Routes } from './routes.ts';
import { withErrorText } from './wire/error-text.ts';
import type { WireSettings } from './wire/settings.ts';

/** The facts of a request that an observer gets before it is answered. */
export interface SeenRequest {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

interface AppParts {
  /** The routes of the two APIs, downloads and, if wanted, control. */
  readonly parts: readonly Hono[];
  readonly routes: Routes;
  readonly wire: WireSettings;
  readonly faults: Faults;
  readonly control: boolean;
  readonly maxBodyBytes: number;
  readonly onRequest: ((request: SeenRequest) => void) | undefined;
}

const notice =
  'An embedded stand-in for a protein folding service. Its folds and structures are made from ideal geometry and are no prediction.';

const errorBody = (message: string) => ({
  status: 'error',
  message,
  request_id: `req_${randomBytes(12).toString('hex')}`,
});

/** Composes the app. */
export function createApp({
  parts,
  routes,
  wire,
  faults,
  control,
  maxBodyBytes,
  onRequest,
}: AppParts): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();

  const tooLarge = `The body is larger than ${maxBodyBytes} bytes; send less at once.`;
  app.use(limitBody(maxBodyBytes, (c) => c.json(errorBody(tooLarge), 413, { connection: 'close' })));
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    const operation = routes.findOperation(c.req.method, pathname);
    if (onRequest !== undefined && operation !== undefined) {
      const body = c.req.method === 'POST' ? await c.req.text() : '';
      onRequest({
        operation,
        method: c.req.method,
        path: `${pathname}${search}`,
        headers: c.req.header(),
        body,
      });
    }
    await next();
  });
  app.use(withFaults(faults, routes));
  app.use(withErrorText(wire.errorText, routes));

  app.get('/', (c) => c.json({ name: 'FoldAtlas sandbox', notice, operations: routes.all, control }));
  for (const part of parts) app.route('/', part);

  app.notFound((c) => {
    const allowed = routes.at(c.req.path).map(({ method }) => method);
    if (allowed.length === 0 && c.req.path.startsWith(`${wire.atlasPrefix}/`))
      return c.json({ detail: 'Not Found' }, 404);
    if (allowed.length === 0)
      return c.json(
        errorBody(`There is nothing at ${c.req.path.slice(0, 200)}; GET / lists what there is.`),
        404,
      );
    const allow = [
      ...new Set(allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
    ].join(', ');
    return c.json(errorBody(`${c.req.method} is not allowed here; use ${allow}.`), 405, { allow });
  });
  app.onError((error, c) => {
    // A client that hung up in the middle of its request is no defect, and reads no answer.
    if (!('code' in error && error.code === 'ECONNRESET')) console.error(error);
    return c.json(errorBody('The sandbox failed; this is a defect of the sandbox, not of the request.'), 500);
  });
  return app;
}
