// A template tag for HTML that escapes all values: names from the upstream are not trusted.

const MARKUP = Symbol('markup');

/** Escaped markup: only functions of this file create it, so that no JSON value passes as markup. */
export interface Html {
  readonly [MARKUP]: string;
}

/** A template value: text is escaped, markup is not, lists are joined; null and false are empty. */
export type Part = string | number | Html | null | undefined | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter);

function rendered(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return MARKUP in part ? part[MARKUP] : part.map(rendered).join('');
}

/** Markup from a template. Attribute values must stand in double quotes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  [MARKUP]: strings.map((text, i) => text + rendered(parts[i])).join(''),
});

/** Markup of another renderer, which has escaped all values. */
export const trusted = (markup: string): Html => ({ [MARKUP]: markup });

/** The markup as text, to be sent. */
export const textOf = (markup: Html): string => markup[MARKUP];

/** Data for a script of the page: inert JSON in a script element, which nothing in it can close. */
export function dataBlock(id: string, data: unknown): Html {
  const json = JSON.stringify(data).replace(/</g, '\\u003c');
  return { [MARKUP]: `<script type="application/json" id="${escaped(id)}">${json}</script>` };
}

/** A description: paragraphs at empty lines, `code` in backticks. */
export const prose = (text: string): Html[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`);

/** One line of a description, with `code` in backticks. */
export const inline = (text: string): Part[] =>
  text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece));
