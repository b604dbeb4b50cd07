import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

// The page asks its own origin; what belongs to the gateway goes on to it. So no CORS is needed,
// and because the Host header is kept, the addresses in its answers (thumbnails, structures,
// results) lead back through here.
const gateway: ProxyOptions = {
  target: process.env.GATEWAY ?? 'http://127.0.0.1:4000',
  // When the gateway dies in the middle of a stream, the page shall see it: the proxy by itself
  // would leave the stream open.
  configure: (proxy) =>
    proxy.on('proxyRes', (answer, _request, response) => {
      answer.on('close', () => answer.complete || response.destroy());
    }),
};
const proxy = Object.fromEntries(
  ['/graphql', '/thumbnails', '/structures', '/tasks', '/batches'].map((path) => [path, gateway]),
);

export default defineConfig({
  plugins: [react()],
  // The package's main file is its development build, ten times as large.
  resolve: { alias: { '3dmol': '3dmol/build/3Dmol.es6-min.js' } },
  server: { proxy },
  preview: { proxy },
  // The viewer is one chunk, and loaded only when there is a structure to show.
  build: {
    chunkSizeWarningLimit: 600,
    // 3Dmol.js evaluates callbacks written as text in HTML attributes; there are none here.
    rolldownOptions: { checks: { eval: false, pluginTimings: false } },
  },
});
