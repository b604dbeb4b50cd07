// Reads the parameters of a GraphQL request from the body of a POST or the search of a GET (GraphQL over
// HTTP). Unknown members are ignored, as the draft asks; Yoga refuses those of a wrong type.
import type { GraphQLParams } from 'graphql-yoga';
import { isFields } from '../../upstream/json/is-fields.ts';
import { httpError } from '../errors.ts';

export interface RequestParams extends GraphQLParams {
  /** Id of a persisted document. Relay's examples call it `doc_id`. */
  documentId?: string | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(json: string | Uint8Array, what: string): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : utf8.decode(json));
  } catch {
    throw httpError(400, `${what} is not valid JSON.`);
  }
}

/** @throws GraphQLError (400) when the request is not an object */
export function readParams(request: unknown): RequestParams {
  if (!isFields(request))
    throw httpError(400, 'A request is one JSON object with `query`. Send each operation by itself.');
  const { query, operationName, variables, extensions, documentId, doc_id } = request;
  const id = documentId ?? doc_id;
  const params: Record<string, unknown> = { query, operationName, variables, extensions };
  for (const [name, value] of Object.entries(params)) if (value === '') params[name] = undefined;
  return { ...params, documentId: typeof id === 'string' ? id : undefined };
}

/** @throws GraphQLError (400) */
export const parseBody = (body: Uint8Array): RequestParams => readParams(parseJson(body, 'The body'));

/** @throws GraphQLError (400) */
export function parseSearch(search: string): RequestParams {
  const params: Record<string, unknown> = Object.fromEntries(new URLSearchParams(search));
  for (const name of ['variables', 'extensions']) {
    const { [name]: json } = params;
    if (typeof json === 'string' && json !== '') params[name] = parseJson(json, `The parameter \`${name}\``);
  }
  return readParams(params);
}
