// What browsers are told about every answer: not to guess its type, not to frame it, not to tell others where it was read, and what a page
// of ours may load.
import type { Plugin } from 'graphql-yoga';
import { NO_PAGE, pagePolicy } from '../protocol/content-policy.ts';

/** For everything that is neither page nor picture: it is for pages of our own origin and those of CORS_ORIGINS. */
export const DATA_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': NO_PAGE,
};

export const useSecurityHeaders = (): Plugin => ({
  async onResponse({ response, setResponse, fetchAPI }) {
    const { headers, status } = response;
    const type = headers.get('content-type') ?? '';
    const html =
      type.startsWith('text/html') && !headers.has('content-security-policy')
        ? await response.text()
        : undefined;
    const usual = {
      ...DATA_HEADERS,
      // Pictures are made to be shown by pages of anybody.
      ...(type.startsWith('image/') ? { 'cross-origin-resource-policy': 'cross-origin' } : {}),
      ...(html === undefined ? {} : { 'content-security-policy': pagePolicy(html) }),
    };
    for (const [name, value] of Object.entries(usual)) if (!headers.has(name)) headers.set(name, value);
    if (html !== undefined) setResponse(new fetchAPI.Response(html, { status, headers }));
  },
});
