// Parses large JSON in a thread.
export { parseJsonSync as default } from './parse-json.ts';
