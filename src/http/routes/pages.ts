// The routes for people and agents: / and /llms.txt, GraphiQL, /schema.graphql, /examples, and the
// files of the pages under /assets.
import type { GraphQLSchema } from 'graphql';
import { apiSdl } from '../../resolvers/sdl.ts';
import { prefersHtml } from '../graphql/media-type.ts';
import type { Assets } from '../pages/assets.ts';
import { readGraphqlWs } from '../pages/examples.ts';
import { frontPage, type Site } from '../pages/front-page.ts';
import { graphiqlPage } from '../pages/graphiql-page.ts';
import { pageCsp, toText } from '../pages/html.ts';
import { llmsText } from '../pages/llms-text.ts';
import { NOT_MODIFIED } from './description.ts';
import { createFileCache, type ServeFile, type StaticFile } from './file-cache.ts';
import { textResponse } from './responses.ts';
import type { Route } from './route.ts';

/**
 * Headers of a page that loads only the gateway's own files. Pages with an editor have the wider
 * policy of pages/html.ts.
 */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };

export function pageRoutes(site: Site, schema: GraphQLSchema): Route[] {
  const serve = createFileCache();
  return [
    homeRoute(site),
    schemaRoute(site, schema, serve),
    assetRoute(site.assets, serve),
    exampleRoute(site, serve),
    ...(site.config.INTROSPECTION ? [graphiqlRoute(site, serve)] : []),
  ];
}

/** The front page for browsers; /llms.txt, and / for other clients, as text. */
const homeRoute = (site: Site): Route => ({
  path: /^\/(llms\.txt)?$/,
  described: { '/llms.txt': { summary: 'An overview for agents', type: 'text/plain' } },
  answer({ exchange, url, parts: [file] }) {
    const origin = site.config.PUBLIC_URL ?? url.origin;
    const headers = { 'cache-control': 'no-store', vary: 'accept' };
    if (file !== undefined || !prefersHtml(exchange.headers.accept ?? null, 'text/plain'))
      return textResponse(200, llmsText(site, origin), headers);
    const body = toText(frontPage(site, origin));
    return { status: 200, headers: { ...PAGE_HEADERS, ...headers }, body };
  },
});

const graphiqlRoute = (site: Site, serve: ServeFile): Route => ({
  path: /^\/graphql$/,
  takes: ({ headers }) => prefersHtml(headers.accept ?? null, 'application/json'),
  answer: ({ exchange }) =>
    serve(exchange, `graphiql ${site.isSandbox()}`, () => {
      const content = toText(graphiqlPage(site));
      return { content, headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(content) } };
    }),
});

const schemaRoute = ({ config }: Site, schema: GraphQLSchema, serve: ServeFile): Route => ({
  path: /^\/schema\.graphql$/,
  described: {
    '/schema.graphql': { summary: 'The GraphQL schema', type: 'text/plain', others: NOT_MODIFIED },
  },
  answer: ({ exchange }) =>
    config.INTROSPECTION
      ? serve(exchange, 'schema', () => ({ content: apiSdl(schema), headers: TEXT_HEADERS }))
      : textResponse(404, 'The schema is not shown here, because introspection is closed (INTROSPECTION).'),
});

/**
 * An address with the version of another release gets the present file, which caches must not
 * store.
 */
const assetRoute = (assets: Assets, serve: ServeFile): Route => ({
  path: /^\/assets\/([^/]+)$/,
  answer({ exchange, parts: [file = ''] }) {
    const found = assets.find(file);
    if (found === null) return textResponse(404, 'There is no such file.');
    const { name, type, load, isCurrent } = found;
    const make = async (): Promise<StaticFile> => ({
      content: await load(),
      headers: { 'content-type': type, 'cross-origin-resource-policy': 'same-origin' },
    });
    return serve(exchange, name, make, {
      'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-store',
    });
  },
});

const SCRIPT_HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The operations examples/*.graphql, the pages examples/browser/*.html, and under
 * /examples/graphql-ws/ the library that one of the pages imports. No other file can be asked for.
 */
function exampleRoute({ examples, browserExamples }: Site, serve: ServeFile): Route {
  const files = new Map<string, StaticFile>();
  for (const { name, text } of browserExamples)
    files.set(`/examples/${name}`, {
      content: text,
      headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) },
    });
  for (const { name, query } of examples)
    files.set(`/examples/${name}.graphql`, { content: query, headers: TEXT_HEADERS });
  for (const [name, content] of browserExamples.length > 0 ? readGraphqlWs() : [])
    files.set(`/examples/graphql-ws/${name}`, { content, headers: SCRIPT_HEADERS });
  const missing = `There is no such example. There are ${[...files.keys()].join(', ')}.`;
  return {
    path: /^\/examples\//,
    answer({ exchange, url }) {
      const file = files.get(url.pathname);
      return file === undefined ? textResponse(404, missing) : serve(exchange, url.pathname, () => file);
    },
  };
}
