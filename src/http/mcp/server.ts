// Builds the MCP server: tools and the parts of the GraphQL schema as resources. One server answers
// one request, or one connection over stdio; it remembers nothing.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  printType,
} from 'graphql';
import { VERSION } from '../../package.ts';
import { toSentences } from './tool-result.ts';
import { createTools, MUTATIONS_OFF, type RunDocument } from './tools.ts';

const INSTRUCTIONS =
  'FoldAtlas reads a catalogue of proteins (the Atlas) and folds proteins. Identifiers may be hashes, UniProt accessions, ' +
  'entry names or sequences. Positions are 0-based, pLDDT runs from 0 to 100, pTM and ipTM from 0 to 1, distances are in ' +
  'ångström. Before you fold, run check_fold and tell the user what it costs.';

const SCHEMA_URI = 'foldatlas://schema';

/** The schema that clients see. @throws Error where introspection is off */
async function readSchema(run: RunDocument): Promise<GraphQLSchema> {
  const answer = await run(getIntrospectionQuery(), {});
  if (answer.data == null) throw new Error(toSentences(answer).join('\n'));
  return buildClientSchema({ __schema: answer.data.__schema } as IntrospectionQuery);
}

const publicTypes = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('_'));

function addSchema(server: McpServer, run: RunDocument): void {
  const metadata = { mimeType: 'text/plain' };
  server.registerResource(
    'schema',
    SCHEMA_URI,
    { ...metadata, title: 'GraphQL types', description: 'The names of all types, each with what it is' },
    async ({ href: uri }) => {
      const types = publicTypes(await readSchema(run));
      const lines = types.map(({ name, description }) => `${name}: ${description?.split('. ', 1)[0] ?? ''}`);
      return { contents: [{ uri, ...metadata, text: lines.join('\n') }] };
    },
  );
  server.registerResource(
    'schema-type',
    new ResourceTemplate(`${SCHEMA_URI}/{type}`, { list: undefined }),
    {
      ...metadata,
      title: 'A GraphQL type',
      description: 'Fields, arguments and descriptions as SDL; begin with Query',
    },
    async ({ href: uri }, { type }) => {
      const found = publicTypes(await readSchema(run)).find(({ name }) => name === type);
      if (found === undefined) throw new Error(`There is no type ${String(type)}; ${SCHEMA_URI} lists all.`);
      return { contents: [{ uri, ...metadata, text: printType(found) }] };
    },
  );
}

/**
 * Returns a function that makes servers.
 *
 * @param schema - gives the tools the types of their results
 * @param mutations - MCP_MUTATIONS
 */
export function createServerFactory(
  schema: GraphQLSchema,
  mutations: boolean,
): (run: RunDocument) => McpServer {
  const tools = createTools(schema, mutations);
  const instructions = mutations ? INSTRUCTIONS : `${INSTRUCTIONS} ${MUTATIONS_OFF}`;
  return (run) => {
    const info = { name: 'foldatlas', title: 'FoldAtlas', version: VERSION };
    const unchanging = { listChanged: false };
    const capabilities = { tools: unchanging, resources: unchanging };
    const server = new McpServer(info, { instructions, capabilities });
    for (const add of tools) add(server, run);
    addSchema(server, run);
    return server;
  };
}
