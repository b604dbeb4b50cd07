// What an answer for everybody may depend on, as one text: two requests with the same key are the same question. Pure.
import type { IncomingMessage } from 'node:http';

/** All headers by which such answers, or whether they are given, may differ. */
const HEADERS = ['host', 'accept', 'content-type', 'content-encoding', 'sec-fetch-site', 'sec-fetch-mode'];

export function answerKey({ method, url, headers }: IncomingMessage, body?: Buffer): string {
  let key = `${method} ${url}`;
  for (const name of HEADERS) key += `\n${headers[name] ?? ''}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}
