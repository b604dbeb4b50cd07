// Keeps documents small before they are parsed and validated, over HTTP and WebSocket alike. What the limits count is in
// http/graphql/document-limits.ts.
import { validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { checkDocument, checkLength, checkTokens, type DocumentLimits } from '../graphql/document-limits.ts';

/** Errors of one document that are told; more help nobody, and each costs time. */
const MOST_ERRORS = 20;

/** @param suggestions - whether errors may say what was meant, which tells the schema piece by piece */
export const useDocumentLimits = (limits: DocumentLimits, suggestions: boolean): Plugin => ({
  onParse({ params, parseFn, setParseFn }) {
    // Before any cache sees the text: what is too long must not be kept either.
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
      validate(schema, document, rules, { maxErrors: MOST_ERRORS, hideSuggestions: !suggestions }),
    );
  },
});
