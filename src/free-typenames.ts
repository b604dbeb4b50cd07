// Keeps `__typename` out of what a query costs: the complexity plugin counts it as a call, and Apollo's clients and urql add it to every
// object. A Pothos plugin; it must stand before the one that counts.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import {
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type OperationDefinitionNode,
  visit,
} from 'graphql';

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      freeTypenames: FreeTypenames<Types>;
    }
  }
}

type Asked = Pick<GraphQLResolveInfo, 'operation' | 'fragments'>;

const known = new WeakMap<OperationDefinitionNode, Asked>();

const bare = <T extends OperationDefinitionNode | GraphQLResolveInfo['fragments'][string]>(node: T): T =>
  visit(node, { Field: ({ name }) => (name.value === '__typename' ? null : undefined) });

/** What is asked without `__typename`. The resolver's own nodes stay as they are. */
function withoutTypenames({ operation, fragments }: Asked): Asked {
  const found = known.get(operation);
  if (found !== undefined) return found;
  const asked = {
    operation: bare(operation),
    fragments: Object.fromEntries(Object.entries(fragments).map(([name, node]) => [name, bare(node)])),
  };
  known.set(operation, asked);
  return asked;
}

class FreeTypenames<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Query' && kind !== 'Mutation' && kind !== 'Subscription') return resolver;
    return (parent, args, context, info) =>
      resolver(parent, args, context, { ...info, ...withoutTypenames(info) });
  }
}

/** The name to give the builder. */
export const freeTypenames = 'freeTypenames';
SchemaBuilder.registerPlugin(freeTypenames, FreeTypenames);
