// Typed GraphQL: `graphql(…)` reads the schema at compile time, so a misspelt field is a type error
// and every answer has its type, with no generated code to ship.
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { ProteinHash: string; AminoAcidSequence: string; URL: string; DateTime: string; JSON: unknown };
}>();

export { type FragmentOf, type ResultOf, readFragment, type VariablesOf } from 'gql.tada';
