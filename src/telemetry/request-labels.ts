// The route and the method of a request as logs, metrics and traces name them: from fixed sets, so
// that no caller can make up a name.

const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^\/assets\//, '/assets/{file}'],
  [/^\/thumbnails\/[^/]+\/[^/]+$/, '/thumbnails/{hash}/{type}.png'],
  [/^(\/signed\/[^/]*)?\/structures\/[^/]+$/, '/structures/{hash}.{format}'],
  [/^(\/signed\/[^/]*)?\/tasks\/[^/]+\/[^/]+$/, '/tasks/{taskId}/{file}'],
  [/^\/batches\/[^/]+\/[^/]+$/, '/batches/{batchId}/{file}'],
  [/^\/bulk\/[^/]+\/[^/]+$/, '/bulk/{lookupId}/{part}.zip'],
  [/^\/export\.(tsv|ndjson)$/, '/export.{format}'],
  [/^\/bulk\/[^/]+$/, '/bulk/{lookupId}.{format}'],
];
const FIXED_ROUTES = new Set([
  '/',
  '/graphql',
  '/mcp',
  '/llms.txt',
  '/schema.graphql',
  '/openapi.json',
  '/health',
  '/ready',
  '/metrics',
]);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'WS']);

/** The template of a path: one of a fixed set. */
export function toRouteLabel(pathname: string): string {
  if (FIXED_ROUTES.has(pathname)) return pathname;
  return ROUTES.find(([pattern]) => pattern.test(pathname))?.[1] ?? 'other';
}

/** The method, `WS` for an operation over WebSocket, or `other` for one that no route has. */
export const toMethodLabel = (method = ''): string => (METHODS.has(method) ? method : 'other');
