// GET /: the front page for browsers, a few lines of text for shells.
import { type FrontPage, frontPage, frontText } from '../pages/front-page.ts';
import { textOf } from '../pages/html.ts';
import type { Route } from '../plugins/use-routes.ts';
import { acceptsHtml, PAGE_HEADERS } from './cached-page.ts';
import type { FrontFacts } from './front-page-data.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

/** What does not change from one visit to the next. */
export type FrontSettings = Omit<FrontPage, 'publicUrl' | 'upstreamAnswers' | 'storeAnswers' | 'proteins'> & {
  readonly publicUrl: string | undefined;
};

/** The route. */
export const homeRoute =
  (settings: FrontSettings, facts: () => Promise<FrontFacts>): Route =>
  async (request, url) => {
    if (url.pathname !== '/') return null;
    return handleGetOrHead(request, async () => {
      const publicUrl = settings.publicUrl ?? url.origin;
      const asked = acceptsHtml(request);
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
