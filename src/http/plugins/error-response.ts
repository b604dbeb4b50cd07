// The response of a refused request: a GraphQL error for GraphQL, a line of text for files.
import { GraphQLError } from 'graphql';

interface Http {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const isHttp = (value: unknown): value is Http =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;

/** An error without what it says to HTTP. */
export function stripHttpExtensions(error: GraphQLError): GraphQLError {
  const { http: _, ...extensions } = error.extensions;
  return new GraphQLError(error.message, {
    extensions,
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
  });
}

/** Makes the answer. @param error - with `extensions.http` */
export function createErrorResponse(request: Request, error: GraphQLError): Response {
  const { http } = error.extensions;
  const { status, headers } = isHttp(http) ? http : { status: 500, headers: {} };
  const common = { 'cache-control': 'no-store', ...headers };
  if (!new URL(request.url).pathname.startsWith('/graphql')) {
    return new Response(`${error.message}\n`, {
      status,
      headers: { 'content-type': 'text/plain; charset=utf-8', ...common },
    });
  }
  const type = 'application/graphql-response+json';
  const accepted = request.headers.get('accept')?.includes(type) === true;
  return new Response(JSON.stringify({ errors: [stripHttpExtensions(error)] }), {
    status,
    headers: { 'content-type': `${accepted ? type : 'application/json'}; charset=utf-8`, ...common },
  });
}
