// A template tag for HTML that escapes all values: names from the upstream are not trusted. The
// Content-Security-Policy of pages with scripts in them.
import { createHash } from 'node:crypto';

const MARKUP = Symbol('markup');

/**
 * Escaped markup: only functions of this file create it, so that no JSON value passes as markup.
 */
export interface Html {
  readonly [MARKUP]: string;
}

/** A template value: text is escaped, markup is not, lists are joined; null and false are empty. */
export type HtmlPart = string | number | Html | null | undefined | false | readonly HtmlPart[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);

function rendered(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return MARKUP in part ? part[MARKUP] : part.map(rendered).join('');
}

/** Markup from a template. Attribute values must stand in double quotes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html => ({
  [MARKUP]: strings.map((text, i) => text + rendered(parts[i])).join(''),
});

/** The markup as text, to be sent. */
export const toText = (markup: Html): string => markup[MARKUP];

/** Data for a script of the page: inert JSON in a script element, which nothing in it can close. */
export function dataBlock(id: string, data: unknown): Html {
  const json = JSON.stringify(data).replace(/</g, '\\u003c');
  return { [MARKUP]: `<script type="application/json" id="${escaped(id)}">${json}</script>` };
}

/** One line of a description, with `code` in backticks. */
export const inline = (text: string): HtmlPart[] =>
  text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece));

/** The texts of the scripts that stand in a page themselves. */
function inlineScripts(html: string): string[] {
  const tags = html.toLowerCase();
  const scripts: string[] = [];
  for (let open = tags.indexOf('<script'); open >= 0; ) {
    const text = tags.indexOf('>', open) + 1;
    const end = tags.indexOf('</script', text);
    if (text === 0 || end < 0) break;
    if (!/\ssrc\s*=/.test(tags.slice(open, text))) scripts.push(html.slice(text, end));
    open = tags.indexOf('<script', end);
  }
  return scripts;
}

/** Browsers hash the text of a script after its line ends have become single line feeds. */
const scriptHash = (script: string): string =>
  `'sha256-${createHash('sha256').update(script.replaceAll('\r\n', '\n')).digest('base64')}'`;

/**
 * The Content-Security-Policy of a page. Its inline scripts, by hash, and scripts of our own origin
 * run; handlers in attributes and injected scripts do not. Inline styles are allowed, because
 * editors write them at run time.
 *
 * @param html - the whole page
 */
export function pageCsp(html: string): string {
  const hashes = [...new Set(inlineScripts(html).map(scriptHash))];
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
