// The routes of the pages for people, as configured: / (front page), /graphiql, /reference,
// /schema.graphql, and the files that belong to them.
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.ts';
import { apiSdl } from '../../resolvers/sdl.ts';
import { prefersHtml } from '../graphql/media-type.ts';
import type { Assets } from '../pages/assets.ts';
import { readDocsFiles } from '../pages/docs-files.ts';
import { type Example, readBrowserExamples } from '../pages/examples.ts';
import { type FrontPage, frontPage, frontText, keyHint, sandboxToken } from '../pages/front-page.ts';
import { graphiqlPage } from '../pages/graphiql-page.ts';
import { pageCsp, textOf } from '../pages/html.ts';
import type { Site } from '../pages/layout.ts';
import { referencePage } from '../pages/reference/page.ts';
import { createFileCache, type ServeFile } from './file-cache.ts';
import { createFrontPageData, type FactSources, type FrontFacts } from './front-page-data.ts';
import { PAGE_HEADERS, type Route, TEXT_HEADERS, textResponse } from './responses.ts';
import { assetRoute, exampleRoute, guideRoute, missingRoute } from './site-files.ts';

/** What the pages are made from. */
export interface PageSources extends FactSources {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly assets: Assets;
  readonly examples: readonly Example[];
  readonly isSandbox: () => boolean;
  /** The upstream's host, the only part of its address that is shown; null for the embedded sandbox. */
  readonly upstreamHost: string | null;
}

/** The routes, and the one for addresses that no route has, which must be the last of all. */
export function pageRoutes(world: PageSources): { readonly routes: Route[]; readonly missing: Route } {
  const { config, assets, examples, isSandbox } = world;
  const places = { graphiql: config.GRAPHIQL, reference: config.INTROSPECTION };
  const site = { assets, places, isSandbox };
  const guides = readDocsFiles();
  const browserExamples = readBrowserExamples();
  const exampleFiles = new Set([
    ...browserExamples.map(({ name }) => name),
    ...examples.map(({ name }) => `${name}.graphql`),
  ]);
  const guidePages = { site, guides, exampleFiles };
  const serve = createFileCache();
  return {
    routes: [
      homeRoute({ ...world, site, browserExamples, guides }, createFrontPageData(world)),
      referenceRoute(world, site, serve),
      assetRoute(assets, serve),
      guideRoute(guidePages, serve),
      exampleRoute(browserExamples, examples, guidePages, serve),
      ...(config.GRAPHIQL ? [graphiqlRoute(world, site, serve)] : []),
    ],
    missing: missingRoute(guidePages),
  };
}

const graphiqlRoute = (world: PageSources, site: Site, serve: ServeFile): Route => ({
  path: /^\/graphql$/,
  takes: ({ method, headers }) =>
    (method === 'GET' || method === 'HEAD') && prefersHtml(headers.get('accept'), 'application/json'),
  answer: ({ request }) =>
    serve(request, `graphiql ${site.isSandbox()}`, () => {
      const { examples } = world;
      const token = sandboxToken(world);
      const content = textOf(graphiqlPage({ site, examples, token, keyHint: keyHint(world.config) }));
      return { content, headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(content) } };
    }),
});

const homeRoute = (
  settings: Omit<FrontPage, 'publicUrl' | 'facts'>,
  readFacts: () => Promise<FrontFacts>,
): Route => ({
  path: /^\/$/,
  async answer({ request, url }) {
    const publicUrl = settings.config.PUBLIC_URL ?? url.origin;
    if (!prefersHtml(request.headers.get('accept'), 'text/plain'))
      return textResponse(200, frontText({ ...settings, publicUrl }), { vary: 'accept' });
    const page = { ...settings, publicUrl, facts: await readFacts() };
    return new Response(textOf(frontPage(page)), {
      headers: { ...PAGE_HEADERS, 'cache-control': 'no-store', vary: 'accept' },
    });
  },
});

/** Rendered on first use: the schema of a process does not change. */
const referenceRoute = ({ schema, examples }: PageSources, site: Site, serve: ServeFile): Route => ({
  path: /^\/(reference|schema\.graphql)$/,
  answer({ request, parts: [name] }) {
    if (!site.places.reference)
      return textResponse(
        404,
        'The schema is not shown here, because introspection is closed (INTROSPECTION).',
      );
    if (name !== 'reference')
      return serve(request, 'schema', () => ({ content: apiSdl(schema), headers: TEXT_HEADERS }));
    return serve(request, `reference ${site.isSandbox()}`, () => ({
      content: textOf(referencePage({ schema, examples, site })),
      headers: PAGE_HEADERS,
    }));
  },
});
