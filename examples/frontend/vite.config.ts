import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The page asks its own origin; what belongs to the gateway goes on to it. So no CORS is needed, and because the Host header
// is kept, the addresses in its answers (thumbnails, structures, results) lead back through here.
const target = process.env.GATEWAY ?? 'http://127.0.0.1:4000';
const proxy = Object.fromEntries(
  ['/graphql', '/thumbnails', '/structures', '/tasks'].map((path) => [path, { target }]),
);

export default defineConfig({
  plugins: [react()],
  // The package's main file is its development build, ten times as large.
  resolve: { alias: { '3dmol': '3dmol/build/3Dmol.es6-min.js' } },
  server: { proxy },
  preview: { proxy },
  // The viewer is one chunk, and loaded only when there is a structure to show.
  build: { chunkSizeWarningLimit: 600 },
});
