// Keeps every answer out of shared caches where callers must prove who they are, whatever the route
// that made it allows: a cache in between would give it to those who have proved nothing.
import type { Plugin } from 'graphql-yoga';
import { addVary } from './vary.ts';

/** Turns `public` into `private` on every answer. */
export const usePrivateAnswers = (): Plugin => ({
  onResponse({ response: { headers } }) {
    const allowed = headers.get('cache-control');
    if (allowed === null || !/\bpublic\b/i.test(allowed)) return;
    headers.set('cache-control', allowed.replace(/\bpublic\b/i, 'private'));
    addVary(headers, ['authorization']);
  },
});
