// The routes of the pages for people, as configured: / (front page), /graphiql, /reference,
// /schema.graphql, /docs/{name}.md, /examples/{name}, and /assets/{name}.{version}.{ending} under
// immutable URLs.

import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.ts';
import { apiSdl } from '../../resolvers/federation/sdl.ts';
import { pageCsp } from '../csp.ts';
import { prefersHtml } from '../graphql/media-type.ts';
import type { Asset, Assets } from '../pages/assets.ts';
import { readDocsFiles } from '../pages/docs-files.ts';
import { type Example, readBrowserExamples } from '../pages/examples.ts';
import { type Access, type FrontPage, frontPage, frontText } from '../pages/front-page.ts';
import { type GraphiqlPage, graphiqlPage } from '../pages/graphiql-page.ts';
import { textOf } from '../pages/html.ts';
import { type ReferenceOptions, referencePage } from '../pages/reference/page.ts';
import type { Route } from '../plugins/use-routes.ts';
import { exampleRoute } from './examples.ts';
import { createFrontPageData, type FactSources, type FrontFacts } from './front-page-data.ts';
import { guideRoute, missingRoute } from './guides.ts';
import {
  type CachedPage,
  cachedPageResponse,
  cachePage,
  once,
  oncePer,
  PAGE_HEADERS,
  textResponse,
} from './responses.ts';

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

/** What keeps the state, without its address: that may hold a password. */
const storeKind = (url: string): string =>
  url.startsWith('sqlite:') ? 'SQLite file' : url.startsWith('memory:') ? 'in memory' : 'Redis or Valkey';

const accessOf = (config: Config): Access =>
  config.UPSTREAM_API_KEY === undefined
    ? 'own-key'
    : config.proofNeeded
      ? 'held-key-for-callers'
      : 'held-key';

/** What GraphiQL's field for a token asks for. */
const KEY_HINTS: Readonly<Record<Access, string>> = {
  'own-key': 'key of the folding service',
  'held-key': 'no key is needed here',
  'held-key-for-callers': 'key of this gateway',
};

/** A token that works in the embedded sandbox, unless the sandbox takes certain keys only. */
const sandboxToken = ({ config, upstreamHost }: PageSources): string | null =>
  upstreamHost === null && config.SANDBOX_API_KEYS.length === 0 && config.UPSTREAM_API_KEY === undefined
    ? 'sandbox'
    : null;

/** The routes, and the one for addresses that no route has, which must be the last of all. */
export function pageRoutes(world: PageSources): { readonly routes: Route[]; readonly missing: Route } {
  const { config, schema, assets, examples, isSandbox, upstreamHost } = world;
  const places = { graphiql: config.GRAPHIQL, reference: config.INTROSPECTION };
  const site = { assets, places, isSandbox };
  const guides = readDocsFiles();
  const access = accessOf(config);
  const browserExamples = readBrowserExamples();
  const front = {
    site,
    examples,
    browserExamples,
    upstreamHost,
    publicUrl: config.PUBLIC_URL,
    guides,
    access,
    anyKey: sandboxToken(world) !== null,
    onlyListed: config.PERSISTED_OPERATIONS === 'only',
    picturesOpen: world.picturesOpen,
    storeKind: storeKind(config.STORE_URL),
    // Else they want a token, or are at a port of their own.
    openMetrics:
      config.METRICS &&
      config.METRICS_PORT === undefined &&
      config.METRICS_TOKEN === undefined &&
      !config.production,
  };
  const graphiql = graphiqlRoute({
    site,
    examples,
    token: sandboxToken(world),
    keyHint: KEY_HINTS[access],
  });
  const exampleFiles = new Set([
    ...browserExamples.map(({ name }) => name),
    ...examples.map(({ name }) => `${name}.graphql`),
  ]);
  const guidePages = { site, guides, exampleFiles };
  return {
    routes: [
      homeRoute(front, createFrontPageData(world)),
      referenceRoute({ schema, examples, site }),
      assetRoute(assets),
      guideRoute(guidePages),
      exampleRoute(browserExamples, examples),
      ...(config.GRAPHIQL ? [graphiql] : []),
    ],
    missing: missingRoute(guidePages),
  };
}

/** The route. */
function graphiqlRoute(page: GraphiqlPage): Route {
  const made = oncePer(page.site.isSandbox, () => {
    const text = textOf(graphiqlPage(page));
    return {
      page: cachePage(Buffer.from(text)),
      headers: { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) },
    };
  });
  return {
    path: /^\/graphql$/,
    takes: ({ method, headers }) =>
      (method === 'GET' || method === 'HEAD') && prefersHtml(headers.get('accept'), 'application/json'),
    answer: ({ request }) => cachedPageResponse(request, made().page, made().headers),
  };
}

/**
 * The route. For the version of another release it sends the present file, which caches must not
 * store.
 */
function assetRoute(assets: Assets): Route {
  const kept = new Map<Asset, Promise<CachedPage>>();
  const keptOf = (asset: Asset): Promise<CachedPage> => {
    const known = kept.get(asset);
    if (known !== undefined) return known;
    const reading = asset.load().then(cachePage);
    kept.set(asset, reading);
    return reading;
  };
  return {
    path: /^\/assets\/([^/]+)$/,
    async answer({ request, parts: [file = ''] }) {
      const found = assets.find(file);
      if (found === null) return textResponse(404, 'There is no such file.');
      return cachedPageResponse(request, await keptOf(found.asset), {
        'content-type': found.asset.type,
        'cache-control': found.current ? 'public, max-age=31536000, immutable' : 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    },
  };
}

/** What does not change from one visit to the next. */
export type FrontSettings = Omit<FrontPage, 'publicUrl' | 'upstreamAnswers' | 'storeAnswers' | 'proteins'> & {
  readonly publicUrl: string | undefined;
};

/** The route. */
const homeRoute = (settings: FrontSettings, facts: () => Promise<FrontFacts>): Route => ({
  path: /^\/$/,
  async answer({ request, url }) {
    const isPageWanted = prefersHtml(request.headers.get('accept'), 'text/plain');
    const { upstream, store, proteins } = isPageWanted
      ? await facts()
      : { upstream: undefined, store: undefined, proteins: [] };
    const page = {
      ...settings,
      publicUrl: settings.publicUrl ?? url.origin,
      upstreamAnswers: upstream,
      storeAnswers: store,
      proteins,
    };
    if (!isPageWanted) return textResponse(200, frontText(page), { vary: 'accept' });
    return new Response(textOf(frontPage(page)), {
      headers: { ...PAGE_HEADERS, 'cache-control': 'no-store', vary: 'accept' },
    });
  },
});

const SDL_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };

/** Rendered on first use, then cached: the schema of a process does not change. */
function referenceRoute(options: ReferenceOptions): Route {
  const { site, schema } = options;
  const page = oncePer(site.isSandbox, () => cachePage(Buffer.from(textOf(referencePage(options)))));
  const sdl = once(() => cachePage(Buffer.from(apiSdl(schema))));
  return {
    path: /^\/(reference|schema\.graphql)$/,
    answer({ request, parts: [name] }) {
      if (!site.places.reference)
        return textResponse(
          404,
          'The schema is not shown here, because introspection is closed (INTROSPECTION).',
        );
      return name === 'reference'
        ? cachedPageResponse(request, page(), PAGE_HEADERS)
        : cachedPageResponse(request, sdl(), SDL_HEADERS);
    },
  };
}
