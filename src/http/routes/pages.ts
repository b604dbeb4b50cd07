// The routes of the pages for people, as configured: / (front page), /graphiql, /reference,
// /schema.graphql, /docs/{name}.md, /examples/{name}.html, and /assets/{name}.{version}.{ending} under immutable URLs.

import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.ts';
import { apiSdl } from '../../resolvers/federation/sdl.ts';
import { pageCsp } from '../csp.ts';
import { prefersHtml } from '../graphql/media-type.ts';
import type { Asset, Assets } from '../pages/assets.ts';
import { readBrowserExamples } from '../pages/browser-examples.ts';
import { type DocsFile, readDocsFiles } from '../pages/docs-files.ts';
import type { Example } from '../pages/examples.ts';
import { type FrontPage, frontPage, frontText } from '../pages/front-page.ts';
import { type GraphiqlPage, graphiqlPage } from '../pages/graphiql-page.ts';
import { textOf } from '../pages/html.ts';
import { type ReferenceOptions, referencePage } from '../pages/reference/page.ts';
import type { Route } from '../plugins/use-routes.ts';
import { browserExampleRoute } from './browser-examples.ts';
import { createFrontPageData, type FactSources, type FrontFacts } from './front-page-data.ts';
import {
  type CachedPage,
  cachedPageResponse,
  cachePage,
  handleGetOrHead,
  PAGE_HEADERS,
  textResponse,
} from './responses.ts';

/** What the pages are made from. */
export interface PageSources extends FactSources {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly assets: Assets;
  readonly examples: readonly Example[];
  readonly sandbox: boolean;
  /** The upstream's host; nothing else of its address is shown. */
  readonly upstreamHost: string;
}

/** What keeps the state, without its address: that may hold a password. */
const storeKind = (url: string): string =>
  url.startsWith('sqlite:') ? 'SQLite file' : url.startsWith('memory:') ? 'in memory' : 'Redis or Valkey';

/** A token that works in the sandbox, unless the sandbox takes certain keys only. */
const sandboxToken = ({ config, sandbox }: PageSources): string | null =>
  sandbox && config.SANDBOX_API_KEYS.length === 0 && !config.proofNeeded ? 'sandbox' : null;

/** The routes. */
export function pageRoutes(world: PageSources): Route[] {
  const { config, schema, assets, examples, sandbox, upstreamHost } = world;
  const guides = readDocsFiles();
  const browserExamples = readBrowserExamples();
  const places = { graphiql: config.GRAPHIQL, reference: config.INTROSPECTION };
  const front = {
    assets,
    places,
    examples,
    browserExamples,
    sandbox,
    upstreamHost,
    publicUrl: config.PUBLIC_URL,
    guides,
    anyKey: sandboxToken(world) !== null,
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
    assets,
    examples,
    reference: places.reference,
    sandbox,
    token: sandboxToken(world),
    keyHint: config.UPSTREAM_API_KEY === undefined ? 'key of the folding service' : 'key of this gateway',
  });
  return [
    homeRoute(front, createFrontPageData(world)),
    referenceRoute({ schema, examples, assets, places, sandbox }),
    assetRoute(assets),
    guideRoute(guides),
    browserExampleRoute(browserExamples),
    ...(config.GRAPHIQL ? [graphiql] : []),
  ];
}

/** The route. Only these guides are served; no other file can be asked for. */
function guideRoute(guides: readonly DocsFile[]): Route {
  const kept = new Map(guides.map(({ name, text }) => [`/docs/${name}`, cachePage(Buffer.from(text))]));
  return (request, url) => {
    if (!url.pathname.startsWith('/docs/')) return null;
    const guide = kept.get(url.pathname);
    return handleGetOrHead(request, async () =>
      guide === undefined
        ? textResponse(404, `There are ${[...kept.keys()].join(', ')}.`)
        : cachedPageResponse(request, guide, {
            'content-type': 'text/plain; charset=utf-8',
            'cache-control': 'no-cache',
          }),
    );
  };
}

/** The route. */
function graphiqlRoute(page: GraphiqlPage): Route {
  const text = textOf(graphiqlPage(page));
  const kept = cachePage(Buffer.from(text));
  const headers = { ...PAGE_HEADERS, 'content-security-policy': pageCsp(text) };
  return (request, url) =>
    url.pathname === '/graphql' &&
    (request.method === 'GET' || request.method === 'HEAD') &&
    prefersHtml(request.headers.get('accept'), 'application/json')
      ? cachedPageResponse(request, kept, headers)
      : null;
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
  return async (request, url) => {
    const [, file] = /^\/assets\/([^/]+)$/.exec(url.pathname) ?? [];
    if (file === undefined) return null;
    return handleGetOrHead(request, async () => {
      const found = assets.find(file);
      if (found === null) return textResponse(404, 'There is no such file.');
      return cachedPageResponse(request, await keptOf(found.asset), {
        'content-type': found.asset.type,
        'cache-control': found.current ? 'public, max-age=31536000, immutable' : 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    });
  };
}

/** What does not change from one visit to the next. */
export type FrontSettings = Omit<FrontPage, 'publicUrl' | 'upstreamAnswers' | 'storeAnswers' | 'proteins'> & {
  readonly publicUrl: string | undefined;
};

/** The route. */
const homeRoute =
  (settings: FrontSettings, facts: () => Promise<FrontFacts>): Route =>
  async (request, url) => {
    if (url.pathname !== '/') return null;
    return handleGetOrHead(request, async () => {
      const publicUrl = settings.publicUrl ?? url.origin;
      const asked = prefersHtml(request.headers.get('accept'), 'text/plain');
      const { upstream, store, proteins } = asked
        ? await facts()
        : { upstream: undefined, store: undefined, proteins: [] };
      const page = { ...settings, publicUrl, upstreamAnswers: upstream, storeAnswers: store, proteins };
      if (!asked) return textResponse(200, frontText(page), { vary: 'accept' });
      return new Response(textOf(frontPage(page)), {
        headers: { ...PAGE_HEADERS, 'cache-control': 'no-store', vary: 'accept' },
      });
    });
  };

const once = (make: () => string): (() => CachedPage) => {
  let kept: CachedPage | undefined;
  return () => {
    kept ??= cachePage(Buffer.from(make()));
    return kept;
  };
};

/** Rendered on first use, then cached: the schema of a process does not change. */
function referenceRoute(options: ReferenceOptions): Route {
  const page = once(() => textOf(referencePage(options)));
  const sdl = once(() => apiSdl(options.schema));
  const answers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    '/reference': (request) => cachedPageResponse(request, page(), PAGE_HEADERS),
    '/schema.graphql': (request) =>
      cachedPageResponse(request, sdl(), {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-cache',
      }),
  };
  return async (request, url) => {
    const answer = answers[url.pathname];
    if (answer === undefined) return null;
    return handleGetOrHead(request, async () =>
      options.places.reference
        ? answer(request)
        : textResponse(404, 'The schema is not shown here, because introspection is closed (INTROSPECTION).'),
    );
  };
}
