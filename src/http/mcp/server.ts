// Builds the MCP server: tools and the parts of the GraphQL schema as resources. One server answers
// one request, or one connection over stdio; it remembers nothing.
import {
  type CallToolResult,
  type JSONRPCErrorResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { type GraphQLSchema, Kind, parse, printType } from 'graphql';
import * as z from 'zod';
import { VERSION } from '../../package.ts';
import { excerpt, quote } from '../../plain-text.ts';
import { isFields } from '../../upstream/json/is-fields.ts';
import { MAX_DOCUMENT_CHARACTERS } from '../graphql/plugins/document-limits.ts';
import { refuseRequest, toShortMistake } from './check-request.ts';
import { readArguments } from './tolerance.ts';
import { ToolError, toFailure, toJsonText, toResult } from './tool-result.ts';
import { loadContent, type RunDocument, TOOLS, type Tool } from './tools.ts';

const INSTRUCTIONS =
  'FoldAtlas reads a catalogue of proteins (the Atlas) and folds proteins. Identifiers may be hashes, UniProt accessions, ' +
  'entry names or sequences. Positions are 0-based, pLDDT runs from 0 to 100, pTM and ipTM from 0 to 1, distances are in ' +
  'ångström; numbers are rounded. Before you fold, run check_fold and tell the user what it costs.';

/** Shown to a model that may not submit. */
const MUTATIONS_OFF =
  'Submitting and cancelling are off for agents here; MCP_MUTATIONS=1 of the gateway, or --mutations of ' +
  '`foldatlas mcp`, turns them on.';

const NULLS = 'null means none, or not loaded: then `problems` says why.';

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: true };
/** An idempotency key makes a repeated submission free. */
const SUBMITS: ToolAnnotations = {
  ...{ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
};
const MUTATES: ToolAnnotations = {
  ...{ readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** Answers failures that a model can do something about as the result of its call. */
async function guard(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ToolError) return toFailure(error.message);
    throw error;
  }
}

/** Mistakes in arguments that are shown. */
const MAX_SHOWN_ISSUES = 5;

/**
 * Keywords left out of a listed schema: a model reads it every time; arguments are checked anyway.
 */
const isLeftOut = (key: string, value: unknown): boolean =>
  key === '$schema' ||
  key === 'maxItems' ||
  key === 'maxLength' ||
  (key === 'additionalProperties' && value === false) ||
  ((key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** A JSON Schema without what costs a model more than it tells. */
function shortSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortSchema);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      isLeftOut(key, member) ? [] : [[key, shortSchema(member)]],
    ),
  );
}

/**
 * The same schema, listed in short, for arguments that are read leniently; of its mistakes the
 * first, each short: the library joins all into one text.
 */
function toLenientInput<Output>(
  schema: StandardSchemaWithJSON<unknown, Output>,
): StandardSchemaWithJSON<unknown, Output> {
  const { '~standard': standard } = schema;
  const full = standard.jsonSchema.input({ target: 'draft-2020-12' });
  return {
    '~standard': {
      ...standard,
      jsonSchema: {
        ...standard.jsonSchema,
        input: (options) => ({
          ...Object(shortSchema(standard.jsonSchema.input(options))),
          additionalProperties: false,
        }),
      },
      async validate(value = {}) {
        const given = readArguments(full, value);
        const { issues, ...read } = 'issues' in given ? given : await standard.validate(given.value);
        if (issues === undefined) return read as { value: Output };
        return { issues: issues.slice(0, MAX_SHOWN_ISSUES).map(toShortMistake) };
      },
    },
  };
}

/** The settings of a tool for the library. */
function describeTool(tool: Tool) {
  const { title, description, input, isMutation } = tool;
  return {
    title,
    description: `${description} ${NULLS}`,
    inputSchema: toLenientInput(input),
    annotations: isMutation === true ? SUBMITS : READS,
  };
}

/** Why a document may not run; null when it may. */
function refuseOperation(query: string, mutations: boolean): string | null {
  let kinds: string[];
  try {
    kinds = parse(query, { maxTokens: 5_000 }).definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION ? [node.operation] : [],
    );
  } catch (error) {
    return `The document cannot be parsed: ${String(Object(error).message)}`;
  }
  if (kinds.includes('subscription'))
    return 'Subscriptions do not run here. Follow a batch with batch_status.';
  return kinds.includes('mutation') && !mutations ? MUTATIONS_OFF : null;
}

const NO_OBJECT = 'expected a JSON object, such as {"hash": "12e9c9e4e2835c302e8ba615115edda3"}';

const GRAPHQL_INPUT = z.strictObject({
  query: z.string().max(MAX_DOCUMENT_CHARACTERS).describe('One operation'),
  variables: z.record(z.string(), z.unknown(), { error: NO_OBJECT }).default({}),
});

/** The arguments of all tools, by their names. */
export const TOOL_INPUTS: Readonly<Record<string, Tool['input']>> = {
  ...Object.fromEntries(TOOLS.map(({ name, input }) => [name, input])),
  graphql: GRAPHQL_INPUT,
};

const LENIENT_GRAPHQL_INPUT = toLenientInput(GRAPHQL_INPUT);

const addGraphqlTool = (server: McpServer, run: RunDocument, mutations: boolean) =>
  server.registerTool(
    'graphql',
    {
      title: 'Run GraphQL',
      description:
        `Any ${mutations ? 'query or mutation' : 'query'} of the GraphQL API, for what the other tools lack. The schema is in the ` +
        'resources foldatlas://schema and foldatlas://schema/{type}, and `{ __type(name: "Query") { fields { name } } }` asks ' +
        'for it. null means that there is none; what could not be loaded is null with an entry in `errors`. ' +
        'The gateway refuses what costs too much; answers are cut at 20 kB.',
      inputSchema: LENIENT_GRAPHQL_INPUT,
      annotations: mutations ? MUTATES : READS,
    },
    ({ query, variables }) =>
      guard(async () => {
        const refusal = refuseOperation(query, mutations);
        if (refusal !== null) throw new ToolError(refusal);
        return toJsonText(await run(query, variables));
      }),
  );

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

const SCHEMA_URI = 'foldatlas://schema';

/** Returns a function that adds the GraphQL schema to a server, as its types. */
function createSchemaResources(schema: GraphQLSchema, isShown: boolean): (server: McpServer) => void {
  const types = new Map(Object.entries(schema.getTypeMap()).filter(([name]) => !name.startsWith('_')));
  const lines = [...types].map(
    ([name, { description }]) => `${name}: ${description?.split('. ', 1)[0] ?? ''}`,
  );
  const metadata = { mimeType: 'text/plain' };
  function toResource({ href: uri }: URL, text: string) {
    if (!isShown) throw invalidParams('The schema is not shown here, because introspection is off.');
    return { contents: [{ uri, ...metadata, text }] };
  }
  return (server) => {
    server.registerResource(
      'schema',
      SCHEMA_URI,
      { ...metadata, title: 'GraphQL types', description: 'The names of all types, each with what it is' },
      (uri) => toResource(uri, lines.join('\n')),
    );
    server.registerResource(
      'schema-type',
      new ResourceTemplate(`${SCHEMA_URI}/{type}`, { list: undefined }),
      {
        ...metadata,
        title: 'A GraphQL type',
        description: 'Fields, arguments and descriptions as SDL; begin with Query',
      },
      (uri, { type: name }) => {
        const type = types.get(String(name));
        if (type === undefined)
          throw invalidParams(`There is no type ${excerpt(String(name))}; ${SCHEMA_URI} lists all.`);
        return toResource(uri, printType(type));
      },
    );
  };
}

/** Settings of the gateway that the tools follow. */
export interface ToolSettings {
  /** Whether agents may submit and cancel. */
  readonly MCP_MUTATIONS: boolean;
  /** Whether clients may read the schema. */
  readonly INTROSPECTION: boolean;
}

export interface McpServers {
  /** Creates the server of one request, or of one connection over stdio. */
  createServer(run: RunDocument): McpServer;
  /**
   * The answer to a request that the library would refuse in its own words; null for all others.
   */
  refuse(message: unknown): JSONRPCErrorResponse | null;
}

/** Why a tool is not offered; null for one that is. */
function refuseTool(name: string, mutations: boolean): string | null {
  const off = TOOLS.filter(({ isMutation }) => isMutation === true && !mutations).map((tool) => tool.name);
  if (off.includes(name)) return `The tool ${name} is switched off. ${MUTATIONS_OFF}`;
  const names = Object.keys(TOOL_INPUTS).filter((one) => !off.includes(one));
  if (names.includes(name)) return null;
  return `There is no tool ${quote(name)}. There are ${names.join(', ')}.`;
}

/** @param schema - as clients see it; the resources show its types */
export function createMcpServers(
  schema: GraphQLSchema,
  { MCP_MUTATIONS: mutations, INTROSPECTION: isSchemaShown }: ToolSettings,
): McpServers {
  const tools = TOOLS.filter(({ isMutation }) => mutations || isMutation !== true).map((tool) => ({
    tool,
    config: describeTool(tool),
  }));
  const addSchema = createSchemaResources(schema, isSchemaShown);
  const info = { name: 'foldatlas', title: 'FoldAtlas', version: VERSION };
  const instructions = mutations ? INSTRUCTIONS : `${INSTRUCTIONS} ${MUTATIONS_OFF}`;
  const unchanging = { listChanged: false };
  const capabilities = { tools: unchanging, resources: unchanging };
  return {
    createServer(run) {
      const server = new McpServer(info, { instructions, capabilities });
      for (const { tool, config } of tools)
        server.registerTool(tool.name, config, (given) =>
          guard(async () => {
            const { content, problems } = await loadContent(tool, given, run);
            return toResult(content, problems, tool);
          }),
        );
      addGraphqlTool(server, run, mutations);
      addSchema(server);
      return server;
    },
    refuse: (message) => refuseRequest(message, (name) => refuseTool(name, mutations)),
  };
}
