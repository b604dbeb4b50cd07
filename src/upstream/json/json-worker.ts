// Parses large JSON in a thread.
import { parseJsonSync } from './parse-json.ts';

/**
 * Objects, lists and members of one text: parsed, each takes up to 400 bytes. The catalogue of
 * features, the richest answer, has some 100,000.
 */
const MAX_PARTS = 500_000;
const [BRACKET, BRACE, COLON] = Buffer.from('[{:');

/** @throws SyntaxError, also for JSON that would take many times the memory of its text */
export default function parseLargeJson(bytes: Uint8Array): unknown {
  let parts = 0;
  for (const byte of bytes) if (byte === BRACKET || byte === BRACE || byte === COLON) parts += 1;
  if (parts > MAX_PARTS) throw new SyntaxError('The JSON holds too many objects, lists and members.');
  return parseJsonSync(bytes);
}
