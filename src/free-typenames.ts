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

/** Undefined where there is none. */
const known = new WeakMap<OperationDefinitionNode, Asked | undefined>();

const bare = <T extends OperationDefinitionNode | GraphQLResolveInfo['fragments'][string]>(node: T): T =>
  visit(node, { Field: ({ name }) => (name.value === '__typename' ? null : undefined) });

/** What is asked without `__typename`; undefined where nobody asks for it. The resolver's own nodes stay as they are. */
function withoutTypenames({ operation, fragments }: Asked): Asked | undefined {
  if (known.has(operation)) return known.get(operation);
  const all = Object.entries(fragments).map(([name, node]) => [name, bare(node)] as const);
  const asked = { operation: bare(operation), fragments: Object.fromEntries(all) };
  // A visit that changes nothing gives the node itself.
  const isSame = asked.operation === operation && all.every(([name, node]) => fragments[name] === node);
  known.set(operation, isSame ? undefined : asked);
  return known.get(operation);
}

class FreeTypenames<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (kind !== 'Query' && kind !== 'Mutation' && kind !== 'Subscription') return resolver;
    return (parent, args, context, info) => {
      const asked = withoutTypenames(info);
      return resolver(parent, args, context, asked === undefined ? info : { ...info, ...asked });
    };
  }
}

/** The name to give the builder. */
export const freeTypenames = 'freeTypenames';
SchemaBuilder.registerPlugin(freeTypenames, FreeTypenames);
