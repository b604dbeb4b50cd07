// Rules for the schema as clients see it and for the example operations; TypeScript is Biome's. Where a recommended rule cannot
// hold, the reason stands beside it.
import graphql from '@graphql-eslint/eslint-plugin';

const plugins = { '@graphql-eslint': graphql };
const languageOptions = {
  parser: graphql.parser,
  parserOptions: { graphQLConfig: { schema: './schema.graphql', documents: './examples/*.graphql' } },
};

const KEYS = ['id', 'hash', 'representativeHash', 'index', 'batchId', 'taskId', 'lookupId', 'accession'];

export default [
  {
    files: ['schema.graphql'],
    plugins,
    languageOptions,
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      // Batch.batchId, Task.taskId and Cancelled.cancelledCount are what clients know: names are kept.
      '@graphql-eslint/no-typename-prefix': 'off',
      // Only what `node` finds has an identity, and the interface asks for its `id`; all others are parts and answers of the moment.
      '@graphql-eslint/strict-id-in-types': 'off',
      // Lists that are short and come whole (chains, issues, top features) are no pages.
      '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
      // The upstream pages tasks forward only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
    },
  },
  {
    files: ['examples/*.graphql'],
    plugins,
    languageOptions,
    rules: {
      ...graphql.configs['flat/operations-recommended'].rules,
      // A cache may know an object by its upstream key instead of its Relay id.
      '@graphql-eslint/require-selections': ['error', { fieldName: KEYS }],
      // Relay names a fragment after its operation and its part: `ProteinCardDeferred_similar`.
      '@graphql-eslint/naming-convention': [
        'error',
        {
          VariableDefinition: 'camelCase',
          OperationDefinition: { style: 'PascalCase' },
          FragmentDefinition: { requiredPattern: /^[A-Z][A-Za-z]*_[a-z][A-Za-z]*$/ },
        },
      ],
    },
  },
];
