// The SDK's own client over a gateway of this process.
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { World } from '../support.ts';

export interface Agent {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  close(): Promise<void>;
}

export const resultText = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');

/**
 * Connects a client. @param mode - `auto` asks for the protocol of 2026, `legacy` is that of 2025
 */
export async function connect(
  { gateway }: Pick<World, 'gateway'>,
  headers: Record<string, string> = {},
  mode: 'auto' | 'legacy' = 'auto',
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL('http://gateway.test/mcp'), {
    fetch: (url, init) => gateway.fetch(new Request(url, init)),
    requestInit: { headers },
  });
  await client.connect(transport);
  return {
    client,
    call: async (name, args = {}) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
