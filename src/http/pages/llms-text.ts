// One page of plain text for agents and shells: addresses, rules of the answers, how to fold once.
import { curlCommand, keyRule, SANDBOX_NOTICE, type Site, upstreamName } from './front-page.ts';

/** The facts every agent needs with any gateway; skills/foldatlas/SKILL.md has them too. */
export const AGENT_RULES = `## Rules of the answers

- null means that the service was asked and has none. A value that could not be loaded is null with an entry in
  \`errors\`, whose \`path\` names the field and whose \`extensions.code\` says what kind of failure it is.
- Codes: BAD_USER_INPUT, UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED, UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT,
  UPSTREAM_DRIFT, INTERNAL_SERVER_ERROR. \`extensions.retryable\` says whether the same request can work later, and
  \`extensions.retryAfterSeconds\` when.
- A list that was asked for by ids has one entry for each id, in the same order, with null at each gap.
- Positions are 0-based, ranges are half-open, confidences (pLDDT) run from 0 to 100, distances are in ångström.
- A refused mutation is a typed result, not an error: select \`__typename\` and \`... on Problem { message hint }\`.

## Folding without paying twice

1. Run \`checkFold\` with the input first: it is free and reports every mistake.
2. Send \`submitFold\` with an \`idempotencyKey\` that you make from the input. The same key with the same input
   gives the same batch and is paid once, for 31 days. After a timeout send the same key again, never a new one.
3. Follow the batch with the subscription \`batchProgress\`, or read \`batch(batchId:)\` every 10 s or less often.
4. Cancelling is free while a task is queued.`;

/** @param origin - where this gateway is reached, without a final slash */
export function llmsText(site: Site, origin: string): string {
  const { config, examples } = site;
  const links = [
    `- GraphQL endpoint: ${origin}/graphql (POST, GET, Server-Sent Events, WebSocket)`,
    `- Tools for agents (Model Context Protocol, streamable HTTP): ${origin}/mcp`,
    ...(config.INTROSPECTION ? [`- Schema with descriptions (SDL): ${origin}/schema.graphql`] : []),
    ...examples.map(
      ({ name, title, kind }) => `- Example, ${kind}: ${title}: ${origin}/examples/${name}.graphql`,
    ),
    `- Long tables: POST a list of identifiers, one on a line, to ${origin}/export.tsv or ${origin}/export.ndjson`,
    `- The plain HTTP routes (OpenAPI 3.1): ${origin}/openapi.json`,
    `- State of the gateway: ${origin}/ready`,
  ];
  return [
    '# FoldAtlas',
    '',
    '> One GraphQL endpoint over a protein folding service (Batch API) and its catalogue of proteins, clusters,',
    '> sparse-autoencoder features and structures (Atlas API).',
    '',
    `Upstream: ${upstreamName(site)}. ${site.isSandbox() ? `${SANDBOX_NOTICE} ` : ''}${keyRule(config)}`,
    '',
    ...(config.PERSISTED_OPERATIONS === 'only'
      ? ['Only listed operations run here: send their documentId.']
      : [curlCommand(site, origin)]),
    '',
    '## Addresses',
    '',
    ...links,
    '',
    AGENT_RULES,
  ].join('\n');
}
