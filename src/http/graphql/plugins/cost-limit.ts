// Refuses operations that may cost too much, before anything is executed. Not a validation rule:
// Yoga caches validation by document, and the cost depends on the variables.
import { GraphQLError } from 'graphql';
import type { Config } from '../../../config.ts';
import { PART_VALUES, type QueryCost } from '../../../schema/query-cost.ts';

export type CostLimits = Pick<Config, 'MAX_QUERY_COST' | 'limits'>;

const tooExpensive = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } });

/** The error of an operation that costs too much; undefined for one that may be executed. */
export function costError({ calls, depth, values }: QueryCost, config: CostLimits): GraphQLError | undefined {
  const { MAX_QUERY_COST, limits } = config;
  if (depth > limits.queryDepth)
    return tooExpensive(
      `The query is ${depth} levels deep; ${limits.queryDepth} are allowed. ` +
        'Ask for the inner part in a query of its own.',
    );
  if (calls > MAX_QUERY_COST)
    return tooExpensive(
      `The query could cost ${calls} upstream calls; ${MAX_QUERY_COST} are allowed. ` +
        'Ask for shorter lists or fewer links at once.',
    );
  if (values > limits.answerValues)
    return tooExpensive(
      `The answer could have ${Math.ceil(values)} values; ${limits.answerValues} are allowed. ` +
        `Each part of @defer and @stream counts as ${PART_VALUES}. Select fewer fields or ` +
        'shorter lists, page through them, or use startBulkLookup for many proteins.',
    );
  return undefined;
}
