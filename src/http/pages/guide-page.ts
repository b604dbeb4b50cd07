// A guide as a page: README.md, docs/*.md, CHANGELOG.md and SECURITY.md, whose links lead to what this gateway
// serves itself. HTML in their Markdown is text, and comments are left out.
import { marked, Renderer, type Tokens } from 'marked';
import type { DocsFile } from './docs-files.ts';
import { type Html, html, textOf, trusted } from './html.ts';
import { layout, type Site } from './layout.ts';

/** Where a link of a guide leads from its page; null for what the gateway does not serve. */
type ResolveLink = (target: string) => string | null;

/** The id that GitHub gives a heading, so that links to `#the-secret` work in both places. */
const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

class GuideRenderer extends Renderer {
  private readonly resolve: ResolveLink;

  constructor(resolve: ResolveLink) {
    super();
    this.resolve = resolve;
  }
  override heading({ depth, text, tokens }: Tokens.Heading): string {
    const level = Math.min(depth, 3);
    return `<h${level} id="${headingId(text)}">${this.parser.parseInline(tokens)}</h${level}>\n`;
  }
  override link({ href, tokens }: Tokens.Link): string {
    const inside = trusted(this.parser.parseInline(tokens));
    const target = this.resolve(href);
    return textOf(
      target === null
        ? html`<span title="${href}">${inside}</span>`
        : html`<a href="${target}">${inside}</a>`,
    );
  }
  override image({ href, text }: Tokens.Image): string {
    return textOf(html`<img src="${this.resolve(href) ?? ''}" alt="${text}">`);
  }
  override code({ text }: Tokens.Code): string {
    return textOf(html`<pre tabindex="0"><code>${text}</code></pre>\n`);
  }
  override table(table: Tokens.Table): string {
    // Narrow pages stack the cells of a row and hide its headings, so each cell names its own.
    const headings = table.header.length > 2 ? table.header.map(({ text }) => text.replaceAll('`', '')) : [];
    let column = 0;
    const rows = super
      .table(table)
      .replace(/<th(?: align="\w+")?><\/th>/g, '<td></td>')
      .replaceAll('<th>', '<th scope="col">')
      .replace(/<tr>|<td/g, (tag) => {
        const heading = tag === '<td' && column > 0 ? headings[column] : undefined;
        column = tag === '<td' ? column + 1 : 0;
        return heading ? textOf(html`${trusted(tag)} data-heading="${heading}"`) : tag;
      });
    return `<div class="table" tabindex="0">${rows}</div>\n`;
  }
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.startsWith('<!--') ? '' : textOf(html`${text}`);
  }
}

/** Renders a guide. */
export const renderMarkdown = (text: string, resolve: ResolveLink): Html =>
  trusted(marked.parse(text, { async: false, renderer: new GuideRenderer(resolve) }));

export interface GuidePages {
  readonly site: Site;
  readonly guides: readonly DocsFile[];
  /** Names of the files of examples/ that are served, such as `websocket.html`. */
  readonly exampleFiles: ReadonlySet<string>;
}

/** Where the links of guides lead, by the path in the repository. */
const resolver = ({ guides, site, exampleFiles }: GuidePages, { folder }: DocsFile): ResolveLink => {
  const names = new Set(guides.map(({ name }) => name));
  return (target) => {
    if (/^(https?:|#)/.test(target)) return target;
    const { pathname, hash } = new URL(target, `http://repository/${folder}`);
    const path = pathname.slice(1);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path === 'docs/README.md') return '../#guides';
    if (path === 'examples/README.md') return '../#examples';
    if (/^docs\/(images\/[^/]+\.webp|[^/]+\.svg)$/.test(path)) return path.slice('docs/'.length);
    if (/^(docs\/)?[^/]+$/.test(path) && names.has(name)) return name + hash;
    if (/^examples\/(browser\/)?[^/]+$/.test(path) && exampleFiles.has(name)) return `../examples/${name}`;
    if (path === 'schema.graphql' && site.places.reference) return '../schema.graphql';
    return null;
  };
};

/** The page of a guide. */
export const guidePage = (pages: GuidePages, guide: DocsFile): Html =>
  layout({
    title: `${guide.title} · FoldAtlas`,
    here: 'guide',
    root: '../',
    description: `${guide.title}: a guide to FoldAtlas.`,
    site: pages.site,
    scripts: [],
    main: html`<nav class="path" aria-label="Guides"><a href="../#guides">All guides</a></nav>
${renderMarkdown(guide.text, resolver(pages, guide))}`,
  });

/** The page for an address at which there is nothing. */
export const missingPage = ({ site }: GuidePages, root: string, what: string): Html =>
  layout({
    title: 'Not here · FoldAtlas',
    here: 'guide',
    root,
    description: what,
    site,
    scripts: [],
    main: html`<h1>Not here</h1>
<p>${what}</p>
<ul>
<li><a href="${root === '' ? './' : root}">The front page</a> lists every address of this gateway.</li>
<li>${
      site.places.graphiql
        ? html`<a href="${root}graphql">GraphiQL</a> is at <code>/graphql</code>, where clients ask, too.`
        : html`Clients ask at <code>/graphql</code>.`
    }</li>
<li><a href="${root === '' ? './' : root}#guides">The guides</a> say how to ask it and how to run it.</li>
</ul>`,
  });
