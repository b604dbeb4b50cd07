// Renders the Markdown of the guides: headings, paragraphs, fenced code, tables, lists with one
// level below them, images, links, emphasis. Not for texts of others: they may use more than that.
import { type Html, html, type Part } from './html.ts';

/** Where a link of a guide leads from its page; null for what the gateway does not serve. */
export type ResolveLink = (target: string) => string | null;

/** The id that GitHub gives a heading, so that links to `#the-secret` work in both places. */
const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const INLINE =
  /`([^`]+)`|!\[([^[\]]*)\]\(([^()\s]+)\)|\[([^[\]]+)\]\(([^()\s]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g;

function inlineParts(text: string, resolve: ResolveLink): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    const [, code, alt = '', image, label = '', target, strong, emphasis] = match;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (image !== undefined) parts.push(html`<img src="${resolve(image) ?? ''}" alt="${alt}">`);
    else if (target !== undefined) {
      const href = resolve(target);
      const inside = inlineParts(label, resolve);
      parts.push(
        href === null
          ? html`<span title="${target}">${inside}</span>`
          : html`<a href="${href}">${inside}</a>`,
      );
    } else if (strong !== undefined) parts.push(html`<strong>${inlineParts(strong, resolve)}</strong>`);
    else parts.push(html`<em>${inlineParts(emphasis ?? '', resolve)}</em>`);
  }
  return [...parts, text.slice(from)];
}

/** Cells of a row; `\|` is a bar within one, also in code. */
const cellsOf = (row: string): string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

function table([head = '', , ...rows]: readonly string[], resolve: ResolveLink): Html {
  const cells = (row: string, cell: (inside: Part) => Html) =>
    html`<tr>${cellsOf(row).map((text) => cell(inlineParts(text, resolve)))}</tr>\n`;
  return html`<div class="table" tabindex="0"><table>
<thead>${cells(head, (inside) => html`<th scope="col">${inside}</th>`)}</thead>
<tbody>${rows.map((row) => cells(row, (inside) => html`<td>${inside}</td>`))}</tbody>
</table></div>`;
}

const ITEM = /^( *)(?:[-*]|\d+\.) (.*)$/;

interface Item {
  text: string;
  readonly below: string[];
}

function list(lines: readonly string[], resolve: ResolveLink): Html {
  const indent = ITEM.exec(lines[0] ?? '')?.[1]?.length ?? 0;
  const items: Item[] = [];
  for (const line of lines) {
    const [, spaces = '', text] = ITEM.exec(line) ?? [];
    const last = items.at(-1);
    if (text !== undefined && spaces.length <= indent) items.push({ text, below: [] });
    else if (text !== undefined || (last?.below.length ?? 0) > 0) last?.below.push(line);
    else if (last !== undefined) last.text += ` ${line.trim()}`;
  }
  const inside = items.map(
    ({ text, below }) =>
      html`<li>${inlineParts(text, resolve)}${below.length > 0 && list(below, resolve)}</li>\n`,
  );
  return /^ *\d/.test(lines[0] ?? '') ? html`<ol>${inside}</ol>` : html`<ul>${inside}</ul>`;
}

/** Whether a line begins another block, which ends a paragraph without an empty line. */
const BLOCK = /^(```|#{1,6} |\||<!--)/;

/** Renders a guide. */
export function renderMarkdown(text: string, resolve: ResolveLink): Html {
  const lines = text.split('\n');
  const blocks: Html[] = [];
  /** Takes the lines for which this holds. */
  const take = (isMore: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (lines[0] !== undefined && isMore(lines[0])) taken.push(lines.shift() ?? '');
    return taken;
  };
  while (lines.length > 0) {
    const line = lines[0] ?? '';
    const [, marks, title = ''] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    if (line.startsWith('```')) {
      lines.shift();
      const code = take((one) => !one.startsWith('```'));
      lines.shift();
      blocks.push(html`<pre tabindex="0"><code>${code.join('\n')}</code></pre>`);
    } else if (marks !== undefined) {
      lines.shift();
      const inside = inlineParts(title, resolve);
      const id = headingId(title);
      if (marks.length === 1) blocks.push(html`<h1 id="${id}">${inside}</h1>`);
      else if (marks.length === 2) blocks.push(html`<h2 id="${id}">${inside}</h2>`);
      else blocks.push(html`<h3 id="${id}">${inside}</h3>`);
    } else if (line.startsWith('|')) {
      blocks.push(
        table(
          take((one) => one.startsWith('|')),
          resolve,
        ),
      );
    } else if (ITEM.test(line)) {
      blocks.push(
        list(
          take((one) => one.trim() !== '' && !BLOCK.test(one)),
          resolve,
        ),
      );
    } else if (line.trim() === '' || line.startsWith('<!--')) {
      lines.shift();
    } else {
      const paragraph = take((one) => one.trim() !== '' && !BLOCK.test(one) && !ITEM.test(one));
      blocks.push(html`<p>${inlineParts(paragraph.join(' '), resolve)}</p>`);
    }
  }
  return html`${blocks.map((block) => html`${block}\n`)}`;
}
