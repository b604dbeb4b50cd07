// The frame of every page: head, skip link, navigation, footer. URLs are relative, for gateways
// behind a path.
import type { Assets } from './assets.ts';
import { type Html, html, type Part } from './html.ts';

/** Where the navigation leads; null is left out. */
interface Links {
  readonly graphiql: boolean;
  readonly reference: boolean;
}

/** What all pages of a gateway share. */
export interface Site {
  readonly assets: Assets;
  readonly places: Links;
  readonly isSandbox: () => boolean;
}

export interface Page {
  readonly site: Site;
  readonly title: string;
  /** Which entry of the navigation this is. */
  readonly here: 'home' | 'reference' | 'guide';
  /** The way to the root of the gateway, such as `../`; empty for a page at the root. */
  readonly root?: string;
  readonly description: string;
  /** Names of scripts under public/, run when the page has been read. */
  readonly scripts: readonly string[];
  /** Names of style sheets under public/, after the common one. */
  readonly styles?: readonly string[];
  /** Between the navigation and the main part, such as a search box. */
  readonly bar?: Part;
  readonly main: Part;
}

/** Sandbox data must never be taken for predictions. */
export const SANDBOX_NOTICE =
  'The upstream is a sandbox: its structures and scores are geometry, not predictions.';

const entry = (here: boolean, href: string, label: string): Html =>
  html`<li><a href="${href}"${here && html` aria-current="page"`}>${label}</a></li>`;

/** A whole page. */
export function layout(page: Page): Html {
  const { site, here, root = '' } = page;
  const { assets, places } = site;
  const home = root === '' ? './' : root;
  const asset = (name: string): string => root + assets.url(name);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">
<title>${page.title}</title>
<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">
${['pages.css', ...(page.styles ?? [])].map((name) => html`<link rel="stylesheet" href="${asset(name)}">\n`)}
${page.scripts.map((name) => html`<script src="${asset(name)}" defer></script>\n`)}
</head>
<body class="${here}">
<a class="skip" href="#main">Skip to the content</a>
${
  site.isSandbox() &&
  html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox</strong> ${SANDBOX_NOTICE}</aside>`
}
<header class="top">
<a class="brand" href="${home}" aria-label="FoldAtlas, front page">
<img src="${asset('favicon.svg')}" alt="" width="28" height="28">FoldAtlas</a>
<nav aria-label="Pages"><ul>
${entry(here === 'home', home, 'Overview')}
${places.graphiql && entry(false, `${root}graphql`, 'GraphiQL')}
${places.reference && entry(here === 'reference', `${root}reference`, 'Reference')}
</ul></nav>
</header>
${page.bar}
<main id="main" tabindex="-1">
${page.main}
</main>
</body>
</html>
`;
}
