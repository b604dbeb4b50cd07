// Renders the Markdown of the guides with headings, links and tables as the pages have them. HTML in
// them is text, and comments are left out.
import { marked, Renderer, type Tokens } from 'marked';
import { type Html, html, textOf, trusted } from './html.ts';

/** Where a link of a guide leads from its page; null for what the gateway does not serve. */
export type ResolveLink = (target: string) => string | null;

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
    const rows = super
      .table(table)
      .replace(/<th(?: align="\w+")?><\/th>/g, '<td></td>')
      .replaceAll('<th>', '<th scope="col">');
    return `<div class="table" tabindex="0">${rows}</div>\n`;
  }
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.startsWith('<!--') ? '' : textOf(html`${text}`);
  }
}

/** Renders a guide. */
export const renderMarkdown = (text: string, resolve: ResolveLink): Html =>
  trusted(marked.parse(text, { async: false, renderer: new GuideRenderer(resolve) }));
