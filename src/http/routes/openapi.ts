// GET /openapi.json: the plain HTTP routes as OpenAPI 3.1, each as it describes itself. A test
// fails for a route without a description, and for an answer that is not as described.
import { VERSION } from '../../package.ts';
import type { Parameter, RouteDescription } from './description.ts';
import type { Route } from './route.ts';

/** The parameters of paths. */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  hash: {
    description: 'MD5 of the sequence of a protein.',
    example: '12e9c9e4e2835c302e8ba615115edda3',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{32}$' },
  },
  type: {
    description: 'Colours of the picture.',
    example: 'plddt',
    schema: { enum: ['plddt', 'pct-characterized'] },
  },
  taskId: { description: 'Id of a task.', example: 'b1-00000', schema: { type: 'string' } },
  batchId: { description: 'Id of a batch.', example: 'b1', schema: { type: 'string' } },
  lookupId: {
    description: 'Id of a bulk look-up, which is all that its files need.',
    example: 'q3bWzB0uX1n2Yc8k5mTLd9Rs',
    schema: { type: 'string' },
  },
  part: {
    description: 'Number of a part, from 0.',
    example: '0',
    schema: { type: 'string', pattern: '^\\d{1,4}$' },
  },
  signature: {
    description: 'From `signedUrl`: opens one file for 15 minutes without a key.',
    example: 'signature',
    schema: { type: 'string' },
  },
};

const REFUSAL = {
  'text/plain': { schema: { type: 'string', description: 'What is wrong, and what to do.' } },
};

function describePath(
  path: string,
  { summary, type, others = {}, isPrivate, query = {}, body }: RouteDescription,
) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const toParameter =
    (place: string) =>
    ([name, parameter]: [string, Parameter | undefined]) => ({
      ...{ name, in: place, required: place === 'path' },
      ...parameter,
    });
  const responses = Object.entries(others).map(([status, description]) => {
    const content = ['206', '503'].includes(status) ? { [type]: {} } : REFUSAL;
    return [status, { description, ...(['304', '416'].includes(status) ? {} : { content }) }];
  });
  return {
    summary,
    ...(isPrivate === true ? { security: [{ key: [] }] } : {}),
    parameters: [
      ...names.map((name) => toParameter('path')([name, PARAMETERS[name]])),
      ...Object.entries(query).map(toParameter('query')),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(Object.entries(body).map(([name, schema]) => [name, { schema }])),
      },
    }),
    responses: {
      200: { description: summary, content: { [type]: {} } },
      ...Object.fromEntries(responses),
      default: { description: 'A refusal of limits, or a failure, as one sentence.', content: REFUSAL },
    },
  };
}

const OWN = { '/openapi.json': { summary: 'This description', type: 'application/json' } };

/** Descriptions by path and method. */
function describePaths(routes: readonly Pick<Route, 'described' | 'methods'>[]): object {
  const paths: Record<string, object> = {};
  for (const { described = {}, methods = ['GET'] } of routes)
    for (const [path, description] of Object.entries(described)) {
      const name = methods.includes('POST') ? 'post' : 'get';
      paths[path] = { ...paths[path], [name]: describePath(path, description) };
    }
  return paths;
}

/** @param routes - of this gateway; those without a description are left out */
export function openapiRoute(routes: readonly Route[], publicUrl: string | undefined): Route {
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'FoldAtlas',
      version: VERSION,
      description: 'The plain HTTP routes. Everything else is GraphQL at /graphql and MCP at /mcp.',
    },
    paths: describePaths([...routes, { described: OWN }]),
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
  return {
    path: /^\/openapi\.json$/,
    described: OWN,
    answer({ url }) {
      const servers = [{ url: publicUrl ?? url.origin }];
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' };
      return { status: 200, headers, body: JSON.stringify({ ...document, servers }) };
    },
  };
}
