// The front page: what the gateway is, its state, how to query it, and links.
import type { Config } from '../../config.ts';
import type { FrontFacts, ShownProtein } from '../routes/front-page-data.ts';
import type { DocsFile } from './docs-files.ts';
import type { BrowserExample, Example } from './examples.ts';
import { type Html, html, inline, type Part } from './html.ts';
import { layout, type Site } from './layout.ts';

export interface FrontPage {
  readonly config: Config;
  readonly site: Site;
  readonly examples: readonly Example[];
  readonly browserExamples: readonly BrowserExample[];
  readonly guides: readonly DocsFile[];
  /** Where this gateway is reached, without a final slash. */
  readonly publicUrl: string;
  /** The upstream's host, the only part of its address that is shown; null for the embedded sandbox. */
  readonly upstreamHost: string | null;
  readonly facts: FrontFacts;
  /** Whether thumbnails are shown to callers without a key. */
  readonly picturesOpen: boolean;
}

/** A page before the state of upstream and store is known. */
type Settings = Omit<FrontPage, 'facts'>;

/**
 * Whose key folds: each caller's own; the gateway's, for anybody on this machine; or the gateway's,
 * for callers that prove who they are with every query.
 */
type Access = 'own-key' | 'held-key' | 'held-key-for-callers';

const accessOf = ({ config }: Pick<Settings, 'config'>): Access =>
  config.UPSTREAM_API_KEY === undefined
    ? 'own-key'
    : config.proofNeeded
      ? 'held-key-for-callers'
      : 'held-key';

/** A token that works in the embedded sandbox, unless the sandbox takes certain keys only. */
export const sandboxToken = ({ config, upstreamHost }: Pick<Settings, 'config' | 'upstreamHost'>) =>
  upstreamHost === null && config.SANDBOX_API_KEYS.length === 0 && config.UPSTREAM_API_KEY === undefined
    ? 'sandbox'
    : null;

/** What keeps the state, without its address: that may hold a password. */
const storeKind = ({ STORE_URL: url }: Config): string =>
  url.startsWith('sqlite:') ? 'SQLite file' : url.startsWith('memory:') ? 'in memory' : 'Redis or Valkey';

const onlyListed = ({ config }: Settings): boolean => config.PERSISTED_OPERATIONS === 'only';

/** Whether a visitor may read /metrics: without a token, and not at a port of their own. */
const hasOpenMetrics = ({ METRICS, METRICS_PORT, METRICS_TOKEN, production }: Config): boolean =>
  METRICS && METRICS_PORT === undefined && METRICS_TOKEN === undefined && !production;

const state = (answers: boolean | undefined): Html =>
  answers === undefined
    ? html`<span class="state unknown">not known yet</span>`
    : answers
      ? html`<span class="state good">answers</span>`
      : html`<span class="state bad">does not answer</span>`;

const KEY_HEADER = "-H 'authorization: Bearer <your key>'";

/** A command that asks this gateway, to be pasted into a shell. */
const curlCommand = (page: Settings): string =>
  `curl -s ${page.publicUrl}/graphql -H 'content-type: application/json' ${
    accessOf(page) === 'held-key-for-callers' ? `${KEY_HEADER} ` : ''
  }-d '{"query":
  "{ uniprotEntry(id: \\"P01308\\") { name organism protein { hash length ptm } } }"}'`;

const upstreamName = ({ site, upstreamHost }: Settings): string =>
  upstreamHost === null ? 'embedded sandbox' : `${upstreamHost}${site.isSandbox() ? ', a sandbox' : ''}`;

const stateCard = (page: FrontPage): Html => html`
<section class="card" aria-labelledby="state">
<h2 id="state">This gateway</h2>
<dl>
<div><dt>Upstream</dt>
<dd>${upstreamName(page)} ${state(page.facts.upstream)}</dd></div>
<div><dt>Store</dt><dd>${storeKind(page.config)} ${state(page.facts.store)}</dd></div>
<div><dt>Endpoint</dt><dd><code class="wrap">${page.publicUrl}/graphql</code></dd></div>
</dl>
</section>`;

/** What each service of the two wants of a caller, and what GraphiQL's field for a token asks for. */
const SERVICES: Readonly<Record<Access, { readonly text: string; readonly keyHint: string }>> = {
  'own-key': {
    text:
      'the Atlas of proteins, clusters and learned features, which needs no key, and the Batch API, ' +
      'which folds your molecules under your own key',
    keyHint: 'key of the folding service',
  },
  'held-key': {
    text:
      'the Atlas of proteins, clusters and learned features, and the Batch API, which folds your ' +
      'molecules under the key of this gateway: you need none',
    keyHint: 'no key is needed here',
  },
  'held-key-for-callers': {
    text:
      'the Atlas of proteins, clusters and learned features, and the Batch API, which folds your ' +
      'molecules. Every query needs a key of this gateway',
    keyHint: 'key of this gateway',
  },
};

/** Whose key GraphiQL's field is for. */
export const keyHint = (config: Config): string => SERVICES[accessOf({ config })].keyHint;

const hero = (page: FrontPage): Html => html`
<section class="hero">
<div>
<h1>Proteins, folds and features in one <span>GraphQL</span> query</h1>
<p class="lead">FoldAtlas answers from two services at once: ${SERVICES[accessOf(page)].text}.
It makes as few upstream calls as your query allows.</p>
<p class="actions">
${page.site.places.graphiql && html`<a class="button" href="graphql">Open GraphiQL</a>`}
${page.site.places.reference && html`<a class="button quiet" href="reference">Schema reference</a>`}
${!page.site.places.graphiql && html`<a class="button quiet" href="#ask">How to query</a>`}
</p>
</div>
${stateCard(page)}
</section>`;

/** What a query has to carry. */
function keyNote(page: FrontPage): Part {
  const access = accessOf(page);
  if (access === 'held-key')
    return 'This gateway folds under its own key for everybody on this machine: send no key.';
  if (access === 'held-key-for-callers') return 'Ask the operator for your key.';
  const anyKey = sandboxToken(page) !== null && '; in the sandbox any key will do';
  return html`Folding needs <code>${KEY_HEADER}</code>${anyKey}.`;
}

const command = (page: FrontPage): Html =>
  onlyListed(page)
    ? html`<p>Only the operations that the operator has listed run here:
send their <code>documentId</code>.</p>`
    : html`<div class="code">
<pre tabindex="0" aria-label="Command"><code id="curl">${curlCommand(page)}</code></pre>
<button type="button" data-copy="curl" hidden>Copy</button></div>`;

const ask = (page: FrontPage): Html => html`
<section aria-labelledby="ask">
<h2 id="ask">Query from a shell</h2>
${command(page)}
<p>${keyNote(page)}
The same address takes queries by GET, and subscriptions over Server-Sent Events or
WebSocket.</p>
</section>`;

/** Where a card leads: the protein card example, about this protein. */
const cardLink = ({ hash }: ShownProtein): string =>
  `graphql?example=04-protein-card&variables=${encodeURIComponent(JSON.stringify({ hash }))}`;

const proteinCard = (page: FrontPage, protein: ShownProtein): Html => {
  const { accession, organism, length } = protein;
  const inside = html`<img src="thumbnails/${protein.hash}/plddt.png" alt="" width="240" height="240"
loading="lazy">
<span class="name">${protein.name}</span>
<span class="dim">${organism !== null && html`<i>${organism}</i> · `}${accession}${
    length !== null && html` · ${length} residues`
  }</span>`;
  return page.site.places.graphiql
    ? html`<li><a href="${cardLink(protein)}">${inside}</a></li>`
    : html`<li><div>${inside}</div></li>`;
};

const BANDS = [
  ['very-high', '90 and more'],
  ['confident', '70 to 90'],
  ['low', '50 to 70'],
  ['very-low', 'below 50'],
] as const;

const gallery = (page: FrontPage): Part =>
  page.picturesOpen &&
  html`
<section aria-labelledby="proteins">
<h2 id="proteins">Some proteins of the Atlas</h2>
${
  page.facts.proteins.length === 0
    ? html`<p class="empty">No proteins yet. Reload in a moment; if the upstream
does not answer, its state is above.</p>`
    : html`<p>Coloured by confidence, pLDDT: ${BANDS.map(
        ([band, range]) => html`<span class="band ${band}">${range}</span> `,
      )}</p>
<ul class="proteins">${page.facts.proteins.map((protein) => proteinCard(page, protein))}</ul>`
}
</section>`;

const GROUPS: readonly (readonly [string, RegExp])[] = [
  ['Look things up', /^0/],
  ['Fold', /^1/],
  ['Watch, and look up many', /^[2-9]/],
];

const exampleItem = (page: FrontPage, example: Example): Html => html`
<li><p class="title">${
  page.site.places.graphiql
    ? html`<a href="graphql?example=${example.name}">${example.title}</a>`
    : example.title
}
<span class="chip ${example.kind}">${example.kind}</span></p><p>${inline(example.about)}</p></li>`;

const examples = (page: FrontPage): Part =>
  page.examples.length > 0 &&
  html`
<section aria-labelledby="examples">
<h2 id="examples">Examples</h2>
${page.site.places.graphiql && html`<p>Each opens in GraphiQL with its variables filled in.</p>`}
<div class="groups">${GROUPS.map(
    ([title, those]) =>
      html`<div><h3>${title}</h3><ul class="examples">${page.examples
        .filter(({ name }) => those.test(name))
        .map((example) => exampleItem(page, example))}</ul></div>`,
  )}</div>
${
  page.browserExamples.length > 0 &&
  html`<p>Pages without a framework, each one file to copy from: ${page.browserExamples.map(
    ({ name, title }, i) => html`${i > 0 && ' · '}<a href="examples/${name}">${title}</a>`,
  )}</p>`
}
</section>`;

const row = (href: string | null, address: string, what: Part): Html =>
  html`<tr><th scope="row">${
    href === null ? html`<code>${address}</code>` : html`<a href="${href}"><code>${address}</code></a>`
  }</th><td>${what}</td></tr>`;

function addresses(page: FrontPage): Html {
  const isOpen = page.site.places.reference;
  const key = accessOf(page) === 'held-key' ? '' : ', with your key';
  return html`
<section aria-labelledby="addresses">
<h2 id="addresses">Addresses</h2>
<div class="table" tabindex="0"><table>
<thead><tr><th scope="col">Address</th><th scope="col">What</th></tr></thead>
<tbody>
${row(
  page.site.places.graphiql ? 'graphql' : null,
  '/graphql',
  'GraphQL by POST, GET, Server-Sent Events and WebSocket',
)}
${isOpen && row('reference', '/reference', 'every type and field, described, to be searched')}
${isOpen && row('schema.graphql', '/schema.graphql', 'the schema as SDL, for code generators')}
${row('health', '/health', 'whether the process runs')}
${row('ready', '/ready', 'whether it can take traffic: the state of store and upstream')}
${hasOpenMetrics(page.config) && row('metrics', '/metrics', 'counters for Prometheus')}
${row(null, '/thumbnails/{hash}/plddt.png', 'picture of a structure')}
${row(null, '/structures/{hash}.cif', 'structure of an Atlas protein, also .pdb')}
${row(null, '/tasks/{taskId}/structure.cif', `structure of your fold, also .pdb and result.json${key}`)}
${row(
  null,
  '/batches/{batchId}/results.zip',
  `every result of a batch in one archive, also scores.tsv${key}`,
)}
${page.examples.length > 0 && row(null, '/examples/{name}.graphql', 'the examples above')}
${page.guides.length > 0 && row('docs/README.md', '/docs/{name}.md', 'the guides below')}
${row(null, '/bulk/{lookupId}.tsv', 'a bulk look-up as a table, also .ndjson')}
</tbody></table></div>
</section>`;
}

const guides = (page: FrontPage): Part =>
  page.guides.length > 0 &&
  html`
<section aria-labelledby="guides">
<h2 id="guides">Guides</h2>
<ul class="guides">${page.guides.map(
    ({ name, title }) => html`<li><a href="docs/${name}">${title}</a> <span class="dim">${name}</span></li>`,
  )}</ul>
</section>`;

/** The page. */
export const frontPage = (page: FrontPage): Html =>
  layout({
    title: 'FoldAtlas',
    here: 'home',
    description: 'One GraphQL endpoint over a protein folding service and its Atlas of proteins.',
    site: page.site,
    scripts: ['pages.js'],
    main: html`${hero(page)}${gallery(page)}${ask(page)}${examples(page)}${addresses(page)}${guides(page)}`,
  });

/** The same for a shell: a few lines of text. */
export const frontText = (page: Settings): string =>
  [
    `FoldAtlas answers GraphQL at ${page.publicUrl}/graphql.`,
    `Upstream: ${upstreamName(page)}${
      page.site.isSandbox() ? ' (its structures and scores are geometry, not predictions)' : ''
    }.`,
    '',
    ...(onlyListed(page) ? ['Only listed operations run here: send their documentId.'] : [curlCommand(page)]),
    ...(page.site.places.reference ? ['', `The schema: ${page.publicUrl}/schema.graphql`] : []),
  ].join('\n');
