// Apollo Server as its documentation starts it, in production: no landing page, no usage reports,
// no introspection.
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { type PeerContext, resolvers, typeDefs } from './schema.ts';
import { openSetting, tell } from './setting.ts';

const { sources } = await openSetting();
const server = new ApolloServer<PeerContext>({
  typeDefs,
  resolvers,
  introspection: false,
  plugins: [ApolloServerPluginLandingPageDisabled()],
});
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async () => ({ sources: sources() }),
});
tell(Number(new URL(url).port));
