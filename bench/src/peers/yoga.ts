// GraphQL Yoga on node:http as its documentation starts it, in production; with POTHOS=1 its schema
// is made by Pothos, with JIT=1 it compiles queries, with CACHED=1 it has its response cache.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { useResponseCache } from '@graphql-yoga/plugin-response-cache';
import { createSchema, createYoga } from 'graphql-yoga';
import { pothosSchema } from './pothos-schema.ts';
import { type PeerContext, resolvers, typeDefs } from './schema.ts';
import { openSetting, tell } from './setting.ts';

const { sources } = await openSetting();
const yoga = createYoga<object, PeerContext>({
  schema: process.env.POTHOS === '1' ? pothosSchema : createSchema<PeerContext>({ typeDefs, resolvers }),
  context: () => ({ sources: sources() }),
  graphiql: false,
  landingPage: false,
  logging: false,
  plugins: [
    ...(process.env.JIT === '1' ? [useGraphQlJit()] : []),
    ...(process.env.CACHED === '1' ? [useResponseCache({ session: () => null, ttl: 3_600_000 })] : []),
  ],
});
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port));
