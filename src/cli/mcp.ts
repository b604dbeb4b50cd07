// foldatlas mcp: the tools of /mcp over standard input and output, for agents that start their
// servers.
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { readAnswer } from '../http/mcp/route.ts';
import { createMcpServers, type McpServers } from '../http/mcp/server.ts';
import { withoutNulls } from '../http/mcp/tolerance.ts';
import { ToolError } from '../http/mcp/tool-result.ts';
import type { RunDocument } from '../http/mcp/tools.ts';
import { USER_AGENT } from '../package.ts';
import { schema } from '../resolvers/schema.ts';
import { isFields } from '../upstream/json/is-fields.ts';
import { command, flag, option, TOKEN_FILE } from './command.ts';
import { CliExit, EXIT, errorMessage, readToken } from './session.ts';

/** Runs documents at a gateway. */
function createRunner(endpoint: URL, token: string | undefined): RunDocument {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': USER_AGENT,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return async (query, variables) => {
    try {
      const body = JSON.stringify({ query, variables });
      // A redirect would take the token to another place.
      const response = await fetch(endpoint, { method: 'POST', headers, body, redirect: 'error' });
      return await readAnswer(response.body);
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw new ToolError(
        `The gateway at ${endpoint.origin} gives no answer: ${errorMessage(error)}. Does it run?`,
      );
    }
  };
}

/** Requests that the library has not answered yet. */
class OpenRequests extends EventEmitter<{ answered: [] }> {
  readonly #ids = new Set<unknown>();

  read(message: unknown): void {
    // A subscription is answered only when the connection ends.
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.#ids.add(message.id);
    // A request that is cancelled is not answered.
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.answer(message.params?.requestId);
  }

  answer(id: unknown): void {
    if (this.#ids.delete(id)) this.emit('answered');
  }

  async allAnswered(): Promise<void> {
    while (this.#ids.size > 0) await once(this, 'answered');
  }
}

/** Standard input and output, which note each answer. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open: OpenRequests;

  constructor(messages: Readable, open: OpenRequests) {
    super(messages);
    this.#open = open;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    try {
      await super.send(message);
    } finally {
      if ('id' in message && !('method' in message)) this.#open.answer(message.id);
    }
  }
}

/** Whether a value is a request, a notification or an answer. */
const isMessage = (value: unknown): boolean =>
  isFields(value) &&
  value.jsonrpc === '2.0' &&
  value.id !== null &&
  (typeof value.method === 'string' || 'result' in value || 'error' in value);

const writeLine = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** Answers a line that is no message, which the library drops. */
const refuseLine = (code: ProtocolErrorCode, message: string): void =>
  writeLine({ jsonrpc: '2.0', id: null, error: { code, message } });

/**
 * Messages of an agent, one a line, in bytes. The library drops the requests under way when its
 * input ends: the end waits for their answers.
 *
 * @param refuse - the answer to a message that the library is not given
 */
async function* readMessages(
  input: Readable,
  open: OpenRequests,
  refuse: McpServers['refuse'],
): AsyncGenerator<Buffer> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    let given: unknown;
    try {
      given = JSON.parse(line);
    } catch {
      refuseLine(ProtocolErrorCode.ParseError, 'The line is not valid JSON.');
      continue;
    }
    const message = withoutNulls(given);
    if (!isMessage(message)) {
      refuseLine(ProtocolErrorCode.InvalidRequest, 'Send one message of JSON-RPC 2.0 on a line.');
      continue;
    }
    const refusal = refuse(message);
    if (refusal !== null) {
      writeLine(refusal);
      continue;
    }
    open.read(message);
    yield Buffer.from(`${JSON.stringify(message)}\n`);
  }
  await open.allAnswered();
}

/** The endpoint of a gateway, of which the address may name `/graphql` or not. */
function readEndpoint(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new CliExit(EXIT.usage, '--url: give the address of a gateway, such as https://atlas.example.org.');
  const base = url.pathname.replace(/\/+$/, '').replace(/\/graphql$/, '');
  return new URL(`${base}/graphql`, url.origin);
}

export default command({
  name: 'mcp',
  summary: 'Serves the tools of a gateway to an agent, over standard input and output',
  args: {
    url: option('URL', 'Address of the gateway; http://127.0.0.1:4000 when left out'),
    mutations: flag('Also let the agent submit folds, which cost'),
    'token-file': TOKEN_FILE,
  },
  examples: [
    ['npx -y foldatlas mcp --url https://atlas.example.org', 'What an agent starts; it then speaks MCP'],
    ['claude mcp add foldatlas -- npx -y foldatlas mcp', 'Add it to an agent'],
  ],
  exits: [
    [EXIT.ok, 'the agent has closed standard input'],
    [EXIT.usage, 'the command line is wrong'],
  ],
  async run({ url = 'http://127.0.0.1:4000', mutations = false, 'token-file': tokenFile }, session) {
    const run = createRunner(readEndpoint(url), readToken(session, tokenFile));
    const { createServer, refuse } = createMcpServers(schema, {
      MCP_MUTATIONS: mutations,
      // Everybody may read the schema of the package.
      INTROSPECTION: true,
    });
    const open = new OpenRequests();
    const messages = Readable.from(readMessages(process.stdin, open, refuse));
    const closed = once(messages, 'close');
    const transport = new AnsweringTransport(messages, open);
    const onerror = (error: Error) => session.say(error.message);
    const served = serveStdio(() => createServer(run), { transport, onerror });
    await closed;
    await served.close();
    return EXIT.ok;
  },
});
