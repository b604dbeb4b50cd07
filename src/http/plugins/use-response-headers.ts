// Headers of every response: the request id, `x-sandbox`, and browser security (nosniff, no
// framing, no referrer, Content-Security-Policy).
import type { Plugin } from 'graphql-yoga';
import { requestIdOf } from '../../telemetry/request-record.ts';
import { API_CSP, pageCsp } from '../csp.ts';

/** For all but pages and images: readable by pages of our own origin and of CORS_ORIGINS. */
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
  /**
   * Whether callers must send credentials: shared caches must not give their responses to others.
   */
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
    // Pages of any site may show images.
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

/** @param names - headers on which the answer depends, lower case */
export function addVary(headers: Headers, names: readonly string[]): void {
  const all = new Set((headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of names) all.add(name);
  all.delete('');
  headers.set('vary', [...all].join(', '));
}
