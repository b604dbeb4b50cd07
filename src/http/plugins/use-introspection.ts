// Closes introspection where the configuration says so, as production does by default.
import { NoSchemaIntrospectionCustomRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** @param open - whether clients may introspect; closed in production by default */
export const useIntrospection = (open: boolean): Plugin => ({
  onValidate({ addValidationRule }) {
    if (!open) addValidationRule(NoSchemaIntrospectionCustomRule);
  },
});
