// Checks the parameters of requests before the library reads them: it answers with a list of all
// mistakes, as its validator writes it, and for most methods as an error of the server.
import {
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  ProtocolErrorCode,
  type StandardSchemaV1Sync,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { excerpt } from '../../plain-text.ts';

/** The requests with parameters, by the names of their types in the library. */
const REQUESTS = new Map<string, StandardSchemaV1Sync>([
  ['initialize', specTypeSchemas.InitializeRequest],
  ['tools/list', specTypeSchemas.ListToolsRequest],
  ['tools/call', specTypeSchemas.CallToolRequest],
  ['resources/list', specTypeSchemas.ListResourcesRequest],
  ['resources/templates/list', specTypeSchemas.ListResourceTemplatesRequest],
  ['resources/read', specTypeSchemas.ReadResourceRequest],
]);

const MISSING = /^Invalid input: expected (.+), received undefined$/;

/** A mistake as a validator reports it. */
interface Mistake {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The same in short, with the path as texts. */
export const toShortMistake = ({ message, path = [] }: Mistake) => ({
  message: excerpt(message.replace(MISSING, 'it is missing: expected $1')),
  path: path.map((step) => excerpt(String(typeof step === 'object' ? step.key : step))),
});

/** Why a tool cannot be called; null where it can. */
export type RefuseTool = (name: string) => string | null;

/**
 * The refusal of a request whose parameters are wrong, or which calls a tool that is not there;
 * null for every other message.
 */
export function refuseRequest(message: unknown, refuseTool: RefuseTool): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message)) return null;
  const { id, method, params } = message;
  const refuse = (text: string): JSONRPCErrorResponse => ({
    ...{ jsonrpc: '2.0', id },
    error: { code: ProtocolErrorCode.InvalidParams, message: text },
  });
  const { issues = [] } =
    REQUESTS.get(method)?.['~standard'].validate({ method, params: params ?? {} }) ?? {};
  const [first] = issues;
  if (first !== undefined) {
    const { message: text, path } = toShortMistake(first);
    return refuse(`${path.join('.')}: ${text}`);
  }
  const refusal = method === 'tools/call' ? refuseTool(String(params?.name)) : null;
  return refusal === null ? null : refuse(refusal);
}
