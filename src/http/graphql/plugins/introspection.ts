// Limits what clients may read of the schema.
import { NoSchemaIntrospectionCustomRule } from 'graphql';
import { schema } from '../../../resolvers/schema.ts';
import type { OperationPlugin } from '../operation-context.ts';

/**
 * Shows clients the schema without `_service`, `_entities` and their types, for which code
 * generators would have to know the scalar `_Any`; or no schema at all.
 *
 * @param isOpen - whether clients may read the schema
 */
export const useIntrospection = (isOpen: boolean): OperationPlugin => ({
  onValidate({ addValidationRule }) {
    if (!isOpen) addValidationRule(NoSchemaIntrospectionCustomRule);
  },
  onExecute({ args }) {
    const text = args.document.loc?.source.body ?? '';
    if (/\b__(schema|type)\b/.test(text) && !/\b_(service|entities)\b/.test(text)) args.schema = schema;
  },
});
