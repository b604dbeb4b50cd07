// The routes of the pages for people: front page, schema reference, GraphiQL, guides and their
// files, as configured.
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.ts';
import type { Assets } from '../pages/assets.ts';
import { readDocsFiles } from '../pages/docs-files.ts';
import type { Example } from '../pages/examples.ts';
import type { Route } from '../plugins/use-routes.ts';
import { assetRoute } from './assets.ts';
import { createFrontPageData, type FactSources } from './front-page-data.ts';
import { graphiqlRoute } from './graphiql.ts';
import { guideRoute } from './guides.ts';
import { homeRoute } from './home.ts';
import { referenceRoute } from './reference.ts';

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
  const places = { graphiql: config.GRAPHIQL, reference: config.INTROSPECTION };
  const front = {
    assets,
    places,
    examples,
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
    ...(config.GRAPHIQL ? [graphiql] : []),
  ];
}
