// The request of an export: identifiers as text or JSON, and the columns of the table.
import * as z from 'zod';
import { readIdentifierList } from '../../lookups/identifier-list.ts';
import { columnsNamed, PROTEIN_COLUMNS, type ProteinColumn } from '../../lookups/protein-columns.ts';
import { excerpt, quote } from '../../plain-text.ts';
import { isIdentifier } from '../../resolvers/atlas/identifier.ts';
import { boundedList } from '../../upstream/json/bounded-schemas.ts';
import { readBody } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import { CLIENT_BOUNDS, parseClientJson, readUtf8 } from '../server/json-body.ts';
import type { RouteRequest } from './route.ts';

const MAX_IDS = 50_000;
/** Identifiers in an address, which proxies cut at some kilobytes. */
const MAX_IDS_OF_ADDRESS = 100;
/** Columns of every table, which explain its gaps. */
const REQUIRED = ['requested', 'status', 'problem'];
/** Columns that one bulk call brings for 500 proteins. */
const DEFAULT = ['hash', 'accession', 'source', 'length', 'ptm', 'mean_plddt', 'structure_url'];

export interface ExportRequest {
  readonly ids: readonly string[];
  readonly columns: readonly ProteinColumn[];
}

/** Names of columns in one request, repeated ones too. */
const MAX_COLUMNS = 100;

const jsonBody = z.strictObject({
  ids: boundedList(z.string(), MAX_IDS),
  columns: boundedList(z.string(), MAX_COLUMNS).optional(),
});

function parseJson(bytes: Uint8Array): z.output<typeof jsonBody> {
  const body = parseClientJson(bytes, 'The body', { ...CLIENT_BOUNDS, items: Number.POSITIVE_INFINITY });
  const { ids } = Object(body);
  if (Array.isArray(ids)) checkCount(ids.length);
  const { success, data, error } = jsonBody.safeParse(body);
  if (success) return data;
  const [issue] = error.issues;
  throw httpError(
    400,
    `The body must be {"ids": ["P01308"], "columns": ["name"]}, columns as you like: ` +
      `${excerpt(issue?.path.join('.') || 'body')}: ${excerpt(issue?.message ?? '')}.`,
  );
}

/** @throws GraphQLError (400, 413) for an empty list and for one that is too long */
function checkCount(count: number): void {
  if (count === 0)
    throw httpError(400, 'The list is empty. Send identifiers of proteins, such as P01308, one on a line.');
  if (count > MAX_IDS)
    throw httpError(
      413,
      `There are more than ${MAX_IDS} identifiers, which is what one export takes. Send the rest as another.`,
    );
}

function readColumns(names: readonly string[]): ProteinColumn[] {
  const unknown = names.find((name) => columnsNamed([name]).length === 0);
  if (unknown === undefined) return columnsNamed([...REQUIRED, ...names]);
  throw httpError(
    400,
    `There is no column ${quote(unknown)}. ` +
      `There are ${PROTEIN_COLUMNS.map(({ name }) => name).join(', ')}.`,
  );
}

/**
 * Identifiers between commas, of which the header of a FASTA record is one, or on lines.
 *
 * @throws GraphQLError (400)
 */
function readAddress(url: URL): string[] {
  const lists = url.searchParams
    .getAll('ids')
    .map((list) => (/[\r\n]/.test(list) ? list : list.replaceAll(',', '\n')));
  const ids = readIdentifierList(lists.join('\n'), MAX_IDS_OF_ADDRESS, isIdentifier);
  if (ids.length > MAX_IDS_OF_ADDRESS)
    throw httpError(
      400,
      `An address takes at most ${MAX_IDS_OF_ADDRESS} identifiers. Send more as the body of a POST.`,
    );
  return ids;
}

/**
 * Reads the list and the columns: of a GET from its address.
 *
 * @throws GraphQLError (400, 413, 415) that says what is wrong with it
 */
export function readExportRequest({ exchange, url }: RouteRequest): ExportRequest {
  const { headers, method } = exchange;
  const columns = url.searchParams.get('columns')?.split(',');
  if (method !== 'POST') {
    const ids = readAddress(url);
    checkCount(ids.length);
    return { ids, columns: readColumns(columns ?? DEFAULT) };
  }
  if (!['', 'identity'].includes(headers['content-encoding'] ?? ''))
    throw httpError(415, 'Send the list without content-encoding; compressed requests are not read.');
  const bytes = readBody(exchange);
  const text = readUtf8(bytes, 'The list');
  const type = headers['content-type'] ?? '';
  // curl calls whatever it sends urlencoded.
  if (/^multipart\//i.test(type) || (/urlencoded/i.test(type) && text.startsWith('ids=')))
    throw httpError(
      415,
      'Send the list itself as the body, as curl does with --data-binary; forms are not read.',
    );
  const isJson = /^application\/json\b/i.test(type);
  const body = isJson ? parseJson(bytes) : { ids: readIdentifierList(text, MAX_IDS, isIdentifier) };
  checkCount(body.ids.length);
  return { ids: body.ids, columns: readColumns(body.columns ?? columns ?? DEFAULT) };
}
