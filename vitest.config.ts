import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);

export default defineConfig({
  resolve: {
    // A code-first schema under vitest would otherwise load two copies of graphql (ESM and CJS).
    alias: [
      { find: /^graphql$/, replacement: require.resolve('graphql').replace(/index\.mjs$/, 'index.js') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    server: {
      deps: { inline: [/^graphql-yoga/, /@pothos\//, /@graphql-tools\//, /@graphql-yoga\//, /@envelop\//] },
    },
  },
});
