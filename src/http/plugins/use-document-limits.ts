// Which documents may run, over HTTP and WebSocket alike: limits before parsing and validation
// (http/graphql/document-limits.ts), trusted documents, introspection.
import { NoSchemaIntrospectionCustomRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { checkDocument, checkLength, checkTokens, type DocumentLimits } from '../graphql/document-limits.ts';

/** Errors reported per document; more are of no use, and each costs time. */
const MAX_ERRORS = 20;

/**
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export const useDocumentLimits = (limits: DocumentLimits, suggestions: boolean): Plugin => ({
  onParse({ params, parseFn, setParseFn }) {
    // Before the document cache, which must not store texts that are too long.
    const text = typeof params.source === 'string' ? params.source : params.source.body;
    checkLength(text, limits);
    setParseFn((source, options) => {
      checkTokens(text, limits);
      const document = parseFn(source, options);
      checkDocument(document, limits);
      return document;
    });
  },
  onValidate({ setValidationFn }) {
    setValidationFn((schema, document, rules) =>
      validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !suggestions }),
    );
  },
});

/** @param open - whether clients may introspect; closed in production by default */
export const useIntrospection = (open: boolean): Plugin => ({
  onValidate({ addValidationRule }) {
    if (!open) addValidationRule(NoSchemaIntrospectionCustomRule);
  },
});

/** @param check - throws for a document that PERSISTED_OPERATIONS=only does not list */
export const useTrustedDocuments = (check: (text: string) => void): Plugin => ({
  onParse({ params }) {
    check(typeof params.source === 'string' ? params.source : params.source.body);
  },
});
