// The context of an operation, which Yoga's plugins are given as `context` of their hooks.
import type { Plugin } from 'graphql-yoga';
import type { GatewayContext } from '../../context.ts';
import type { QueryCost } from '../../schema/query-cost.ts';
import type { Exchange } from '../exchange.ts';

export interface OperationContext {
  readonly exchange: Exchange;
  /**
   * Whether the gateway wrote the document itself, as for an export: it needs no entry in a list of
   * allowed operations.
   */
  readonly isOwn: boolean;
  /** The context of the resolvers; undefined until the operation is executed. */
  resolvers?: GatewayContext;
  /** The estimate of a query or a mutation that is executed. */
  cost?: QueryCost;
}

export type OperationPlugin = Plugin<OperationContext>;
