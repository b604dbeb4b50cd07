// Creates the Yoga server. Plugins of the gateway replace Yoga's own request parsing, CORS and
// error masking.
import type { GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { ClientErrors } from '../http/plugins/client-errors.ts';
import { createDocumentCache } from '../http/plugins/document-cache.ts';

export type GatewayYoga = YogaServerInstance<object, object>;

export interface YogaSources {
  readonly schema: GraphQLSchema;
  readonly plugins: Plugin[];
  readonly errors: ClientErrors;
}

/** Makes the server. */
export const openYoga = ({ schema, plugins, errors }: YogaSources): GatewayYoga =>
  createYoga<object, object>({
    schema,
    // The context of a request is made when it is executed (useExecution).
    // Requests are read by useRequestReading, which counts bytes too; CORS is useCors'.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    cors: false,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: createDocumentCache() },
    landingPage: false,
    // Ours says more, and is a route like the others.
    healthCheckEndpoint: '/-/yoga',
    logging: false,
    // GraphiQL is a page of ours (http/routes/graphiql.ts), whose editor comes as files.
    graphiql: false,
    maskedErrors: { maskError: (error) => errors.show(error) },
    plugins,
  });
