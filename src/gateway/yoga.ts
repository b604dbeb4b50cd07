// The GraphQL server: Yoga with its own request handling switched off wherever a plugin of ours does it. It opens nothing.
import type { GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../context.ts';
import { openTextCache } from '../plugins/document-cache.ts';
import type { OpenContext } from './contexts.ts';
import type { ShownErrors } from './shown-errors.ts';

export type GatewayYoga = YogaServerInstance<object, GatewayContext>;

export interface YogaSources {
  readonly schema: GraphQLSchema;
  readonly plugins: Plugin[];
  readonly openContext: OpenContext;
  readonly errors: ShownErrors;
}

/** Makes the server. */
export const openYoga = ({ schema, plugins, openContext, errors }: YogaSources): GatewayYoga =>
  createYoga<object, GatewayContext>({
    schema,
    context: ({ request }) => openContext(request),
    // Requests are read by useRequestReading, which counts bytes too; CORS is useCors'.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    cors: false,
    parserAndValidationCache: { documentCache: openTextCache(), errorCache: openTextCache() },
    landingPage: false,
    // Ours says more, and is a route like the others.
    healthCheckEndpoint: '/-/yoga',
    logging: false,
    // GraphiQL is a page of ours (routes/graphiql.ts), whose editor comes as files.
    graphiql: false,
    maskedErrors: { maskError: (error) => errors.show(error) },
    plugins,
  });
