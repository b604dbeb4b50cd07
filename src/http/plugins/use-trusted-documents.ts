// Lets only listed documents run where the operator wants that, over every transport. Which they
// are it does not know.
import type { Plugin } from 'graphql-yoga';

/** @param check - throws for a document that PERSISTED_OPERATIONS=only does not list */
export const useTrustedDocuments = (check: (text: string) => void): Plugin => ({
  onParse({ params }) {
    check(typeof params.source === 'string' ? params.source : params.source.body);
  },
});
