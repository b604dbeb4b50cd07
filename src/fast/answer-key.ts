// What an answer for everybody may depend on, as one text: two requests with the same key are the same question. Pure.
import type { IncomingMessage } from 'node:http';

export function answerKey({ method, url, headers }: IncomingMessage, body?: Buffer): string {
  const { host, accept = '' } = headers;
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const { 'sec-fetch-site': site = '', 'sec-fetch-mode': mode = '' } = headers;
  const page = site === 'cross-site' ? headers.origin : '';
  // All headers by which such answers, or whether they are given, may differ.
  const key = `${method} ${url}\n${host}\n${accept}\n${type}\n${encoding}\n${site}\n${mode}\n${page}`;
  // One character for each byte: another body is another key, whatever it is.
  return body === undefined ? key : `${key}\n${body.toString('latin1')}`;
}
