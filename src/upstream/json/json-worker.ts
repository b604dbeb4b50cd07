// Parses the JSON of large answers in a thread.
export { parseAnswer as default } from './parse-json.ts';
