// Reads a large `features.json` in a thread.
export { readFeaturesInWorker as default } from './features-file.ts';
