// Headers that every answer carries: the request's id, whether a sandbox answered, and what browsers are told: not to guess its type, not
// to frame it, not to tell others where it was read, and what a page of ours may load.
import type { Plugin } from 'graphql-yoga';
import { requestIdOf } from '../../telemetry/request-record.ts';
import { API_CSP, pageCsp } from '../csp.ts';
import { addVary } from './vary.ts';

/** For everything that is neither page nor picture: it is for pages of our own origin and those of CORS_ORIGINS. */
const DATA_HEADERS = Object.entries({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': API_CSP,
});

export interface ResponseHeaderOptions {
  /** Whether the upstream is the embedded sandbox. */
  readonly sandbox: boolean;
  /** Whether callers must prove who they are: a shared cache would give their answers to those who have proved nothing. */
  readonly proofNeeded: boolean;
}

/** Turns `public` into `private`. */
function keepPrivate(headers: Headers): void {
  const allowed = headers.get('cache-control');
  if (allowed === null || !/\bpublic\b/i.test(allowed)) return;
  headers.set('cache-control', allowed.replace(/\bpublic\b/i, 'private'));
  addVary(headers, ['authorization']);
}

export const useResponseHeaders = ({ sandbox, proofNeeded }: ResponseHeaderOptions): Plugin => ({
  onResponse({ request, response, setResponse, fetchAPI }) {
    const { headers, status } = response;
    headers.set('x-request-id', requestIdOf(request));
    if (sandbox) headers.set('x-sandbox', '1');
    if (proofNeeded) keepPrivate(headers);
    const type = headers.get('content-type') ?? '';
    // Pictures are made to be shown by pages of anybody.
    if (type.startsWith('image/') && !headers.has('cross-origin-resource-policy'))
      headers.set('cross-origin-resource-policy', 'cross-origin');
    const isPage = type.startsWith('text/html') && !headers.has('content-security-policy');
    for (const [name, value] of DATA_HEADERS) if (!headers.has(name)) headers.set(name, value);
    if (!isPage) return undefined;
    return response.text().then((html) => {
      headers.set('content-security-policy', pageCsp(html));
      setResponse(new fetchAPI.Response(html, { status, headers }));
    });
  },
});
