// Types for your own operations with graphql-codegen. Copy this file into your project and run
//   npm install --save-dev @graphql-codegen/cli @graphql-codegen/client-preset
//   npx graphql-codegen --config codegen.ts
// then `import { graphql } from './gql/gql.ts'` gives typed documents to Apollo Client, urql and
// graphql-request alike.

/**
 * The TypeScript type of each scalar of FoldAtlas. All but JSON and IntMatrix come and go as
 * strings.
 */
export const SCALARS = {
  AminoAcidSequence: 'string',
  DateTime: 'string',
  IntMatrix: 'number[][]',
  JSON: 'unknown',
  ProteinHash: 'string',
  URL: 'string',
};

export default {
  // The SDL of a running gateway, or the file of its package. Introspection leaves out `@oneOf`.
  schema: 'http://127.0.0.1:4000/schema.graphql',
  documents: ['src/**/*.{ts,tsx,graphql}'],
  generates: {
    './src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        scalars: SCALARS,
        // A scalar that this map does not know is an error, not an `any`.
        strictScalars: true,
        enumsAsTypes: true,
        // Releases may add enum values: the types then ask for a default in every switch.
        futureProofEnums: true,
        useTypeImports: true,
      },
    },
  },
};
