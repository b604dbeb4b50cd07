// The front page: what the gateway is, its state, and where to begin. A script of the page reads
// the state from /ready.
import type { Config } from '../../config.ts';
import type { Assets } from './assets.ts';
import type { BrowserExample, Example } from './examples.ts';
import { type Html, type HtmlPart, html, inline } from './html.ts';

/** Facts about a gateway that its pages share. */
export interface Site {
  readonly config: Config;
  readonly assets: Assets;
  readonly examples: readonly Example[];
  readonly browserExamples: readonly BrowserExample[];
  readonly isSandbox: () => boolean;
  /**
   * The upstream's host, the only part of its address that is shown; null for the embedded sandbox.
   */
  readonly upstreamHost: string | null;
}

/** Sandbox data must never be taken for predictions. */
export const SANDBOX_NOTICE =
  'The upstream is a sandbox: its structures and scores are geometry, not predictions.';

/**
 * The key that pays for folds: the caller's own; the gateway's, for all callers on this machine; or
 * the gateway's, for callers that authenticate with every query.
 */
type Access = 'own-key' | 'held-key' | 'held-key-for-callers';

const accessMode = ({ UPSTREAM_API_KEY, proofNeeded }: Config): Access =>
  UPSTREAM_API_KEY === undefined ? 'own-key' : proofNeeded ? 'held-key-for-callers' : 'held-key';

/** The credentials that folds need, and the placeholder of GraphiQL's field for a token. */
const KEYS: Readonly<Record<Access, { readonly rule: string; readonly placeholder: string }>> = {
  'own-key': {
    rule: 'The Atlas needs no key. Folding needs your key of the folding service.',
    placeholder: 'key of the folding service',
  },
  'held-key': {
    rule: 'This gateway folds with its own key for everybody on this machine: send no key.',
    placeholder: 'no key is needed here',
  },
  'held-key-for-callers': {
    rule: 'Every query needs a key of this gateway. Ask its operator for yours.',
    placeholder: 'key of this gateway',
  },
};

export const keyRule = (config: Config): string => KEYS[accessMode(config)].rule;
export const keyPlaceholder = (config: Config): string => KEYS[accessMode(config)].placeholder;

/** A token that works in the embedded sandbox; null where the sandbox takes certain keys only. */
export const sandboxToken = ({ config, upstreamHost }: Pick<Site, 'config' | 'upstreamHost'>) =>
  upstreamHost === null &&
  config.sandbox.SANDBOX_API_KEYS === undefined &&
  config.UPSTREAM_API_KEY === undefined
    ? 'sandbox'
    : null;

/** The kind of the store without its address, which may hold a password. */
const storeKind = ({ STORE_URL: url }: Config): string =>
  url.startsWith('sqlite:') ? 'SQLite file' : url.startsWith('memory:') ? 'in memory' : 'Redis or Valkey';

export const upstreamName = ({ isSandbox, upstreamHost }: Site): string =>
  upstreamHost === null ? 'embedded sandbox' : `${upstreamHost}${isSandbox() ? ', a sandbox' : ''}`;

/** A first query for a shell. @param origin - of the gateway, without a final slash */
export const curlCommand = ({ config }: Site, origin: string): string =>
  `curl -s ${origin}/graphql -H 'content-type: application/json' ${
    config.proofNeeded ? "-H 'authorization: Bearer <your key>' " : ''
  }-d '{"query":
  "{ uniprotEntry(id: \\"P01308\\") { name organism protein { hash length ptm } } }"}'`;

const checkState = (name: 'upstream' | 'store'): Html =>
  html`<span class="state unknown" data-check="${name}">see <a href="ready">/ready</a></span>`;

const stateCard = (site: Site, origin: string): Html => html`
<section class="card" aria-labelledby="state">
<h2 id="state">This gateway</h2>
<dl>
<div><dt>Upstream</dt><dd>${upstreamName(site)} ${checkState('upstream')}</dd></div>
<div><dt>Store</dt><dd>${storeKind(site.config)} ${checkState('store')}</dd></div>
<div><dt>Endpoint</dt><dd><code class="wrap">${origin}/graphql</code></dd></div>
</dl>
</section>`;

const query = (site: Site, origin: string): Html =>
  site.config.PERSISTED_OPERATIONS === 'only'
    ? html`<p>Only the operations that the operator has listed run here:
send their <code>documentId</code>.</p>`
    : html`<div class="code">
<pre tabindex="0" aria-label="Command"><code id="curl">${curlCommand(site, origin)}</code></pre>
<button type="button" data-copy="curl" hidden>Copy</button></div>`;

const GROUPS: readonly (readonly [title: string, files: RegExp])[] = [
  ['Look things up', /^0/],
  ['Fold', /^1/],
  ['Watch, and look up many', /^[2-9]/],
];

const exampleItem = ({ config }: Site, { name, title, kind, about }: Example): Html => html`
<li><p class="title"><a href="${config.INTROSPECTION ? `graphql?example=${name}` : `examples/${name}.graphql`}">${title}</a>
<span class="chip ${kind}">${kind}</span></p><p>${inline(about)}</p></li>`;

const examples = (site: Site): HtmlPart =>
  site.examples.length > 0 &&
  html`
<section aria-labelledby="examples">
<h2 id="examples">Examples</h2>
<div class="groups">${GROUPS.map(
    ([title, files]) =>
      html`<div><h3>${title}</h3><ul class="examples">${site.examples
        .filter(({ name }) => files.test(name))
        .map((example) => exampleItem(site, example))}</ul></div>`,
  )}</div>
<p>Pages without a framework, each one file to copy from: ${site.browserExamples.map(
    ({ name, title }, i) => html`${i > 0 && ' · '}<a href="examples/${name}">${title}</a>`,
  )}</p>
</section>`;

/** The page. @param origin - where this gateway is reached, without a final slash */
export const frontPage = (site: Site, origin: string): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="One GraphQL endpoint over a protein folding service and its Atlas of proteins.">
<title>FoldAtlas</title>
<link rel="icon" type="image/svg+xml" href="${site.assets.url('favicon.svg')}">
<link rel="stylesheet" href="${site.assets.url('pages.css')}">
<script src="${site.assets.url('pages.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${
  site.isSandbox() &&
  html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox</strong> ${SANDBOX_NOTICE}</aside>`
}
<header class="top"><p class="brand"><img src="${site.assets.url('favicon.svg')}" alt="" width="28" height="28">FoldAtlas</p></header>
<main id="main" tabindex="-1">
<section class="hero">
<div>
<h1>Proteins, folds and features in one <span>GraphQL</span> query</h1>
<p class="lead">FoldAtlas answers from two services at once: the Atlas of proteins, clusters and learned
features, and the Batch API, which folds your molecules. ${keyRule(site.config)}</p>
<p class="actions">
${site.config.INTROSPECTION && html`<a class="button" href="graphql">Open GraphiQL</a>`}
${site.config.INTROSPECTION && html`<a class="button quiet" href="schema.graphql">Schema</a>`}
<a class="button quiet" href="llms.txt">For agents</a>
</p>
</div>
${stateCard(site, origin)}
</section>
<section aria-labelledby="ask">
<h2 id="ask">Query from a shell</h2>
${query(site, origin)}
${sandboxToken(site) !== null && html`<p>In the sandbox any key will do.</p>`}
</section>
${examples(site)}
</main>
</body>
</html>
`;
