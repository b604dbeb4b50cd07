// What browsers are told about every answer: not to guess its type, not to frame it, not to tell others where it was read, and what a page
// of ours may load.
import type { Plugin } from 'graphql-yoga';
import { NO_PAGE, pagePolicy } from '../protocol/content-policy.ts';

export const useSecurityHeaders = (): Plugin => ({
  async onResponse({ response, setResponse, fetchAPI }) {
    const { headers, status } = response;
    const type = headers.get('content-type') ?? '';
    const set = (name: string, value: string) => {
      if (!headers.has(name)) headers.set(name, value);
    };
    set('x-content-type-options', 'nosniff');
    set('referrer-policy', 'no-referrer');
    set('x-frame-options', 'DENY');
    // Pictures are made to be shown by pages of anybody; all else is for pages of our own origin and those of CORS_ORIGINS.
    set('cross-origin-resource-policy', type.startsWith('image/') ? 'cross-origin' : 'same-origin');
    if (headers.has('content-security-policy')) return;
    if (!type.startsWith('text/html')) return headers.set('content-security-policy', NO_PAGE);
    const html = await response.text();
    headers.set('content-security-policy', pagePolicy(html));
    setResponse(new fetchAPI.Response(html, { status, headers }));
  },
});
