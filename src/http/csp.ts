// The Content-Security-Policy of the gateway's pages: their inline scripts, by hash, and their own
// origin.
import { createHash } from 'node:crypto';

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
const hashOf = (script: string): string =>
  `'sha256-${createHash('sha256').update(script.replaceAll('\r\n', '\n')).digest('base64')}'`;

/**
 * The Content-Security-Policy of a page. Its inline scripts, by hash, and scripts of our own origin
 * run; handlers in attributes and injected scripts do not. Inline styles are allowed, because
 * editors write them at run time.
 *
 * @param html - the whole page
 */
export function pageCsp(html: string): string {
  const hashes = [...new Set(inlineScripts(html).map(hashOf))];
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
