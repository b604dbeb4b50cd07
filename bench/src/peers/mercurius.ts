// Mercurius on Fastify with compiled execution; with CACHED=1 also its cache, over everything that
// is measured.
import Fastify from 'fastify';
import mercurius from 'mercurius';
import cache from 'mercurius-cache';
import { type PeerContext, resolvers, typeDefs } from './schema.ts';
import { openSetting, tell } from './setting.ts';

declare module 'mercurius' {
  interface MercuriusContext extends PeerContext {}
}

const { sources } = await openSetting();
const app = Fastify({ bodyLimit: 16 * 1024 * 1024 });
await app.register(mercurius, {
  schema: typeDefs,
  resolvers,
  jit: 1,
  graphiql: false,
  context: () => ({ sources: sources() }),
});
if (process.env.CACHED === '1')
  await app.register(cache.default, {
    ttl: 3600,
    policy: { Query: { features: true, protein: true, proteins: true, lookup: true } },
  });
const url = await app.listen({ port: 0, host: '127.0.0.1' });
tell(Number(new URL(url).port));
