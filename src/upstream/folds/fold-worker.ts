// Reads a large folding result in a thread.
export { readFoldSync as default } from './read-fold.ts';
