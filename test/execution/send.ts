// Sends streams over node:http by the server adapter that the gateway itself uses.
import { type RequestListener, ServerResponse } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';

/** Answers every request with a stream that is made for its response. */
export const streamListener = (
  open: (response: ServerResponse | undefined) => ReadableStream<Uint8Array>,
): RequestListener =>
  createYoga({
    schema: createSchema({ typeDefs: 'type Query { unused: Int }' }),
    logging: false,
    plugins: [
      {
        onRequest({ serverContext, endResponse, fetchAPI }) {
          const response = 'res' in serverContext ? serverContext.res : undefined;
          endResponse(new fetchAPI.Response(open(response instanceof ServerResponse ? response : undefined)));
        },
      },
    ],
  });
