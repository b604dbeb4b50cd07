// The agent skill says what /llms.txt says: skills/foldatlas/SKILL.md is written from the same
// words by `UPDATE_DOCS=1 npx vitest run test/docs/skill.test.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AGENT_RULES } from '../../src/http/pages/llms-text.ts';
import { openWorld } from '../support.ts';

const FILE = new URL('../../skills/foldatlas/SKILL.md', import.meta.url);
const PURPOSE =
  'Look up proteins, structures, clusters and features, check and submit folds, and rank their results through a ' +
  'FoldAtlas gateway (GraphQL or MCP). Use it for UniProt accessions, protein sequences, folding batches and scores.';

const SKILL = `---
name: foldatlas
description: ${PURPOSE}
license: MIT
---

# FoldAtlas

One GraphQL endpoint over a protein folding service and its catalogue of proteins. The address of the gateway is in
\`FOLDATLAS_URL\` (http://127.0.0.1:4000 when it runs on this machine), your key in \`FOLDATLAS_TOKEN\`.

- Read \`$FOLDATLAS_URL/llms.txt\` first: the addresses of this gateway and its examples.
- Send queries to \`$FOLDATLAS_URL/graphql\`; the schema is at \`$FOLDATLAS_URL/schema.graphql\`.
- Tools of the Model Context Protocol are at \`$FOLDATLAS_URL/mcp\`, or by \`npx -y foldatlas mcp --url $FOLDATLAS_URL\`.
- Without a gateway, \`npx -y foldatlas\` starts one over a sandbox, whose folds are geometry and no predictions.

${AGENT_RULES}
`;

it('SKILL.md has the words of /llms.txt', async () => {
  if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, SKILL);
  expect(readFileSync(FILE, 'utf8')).toBe(SKILL);
  const world = await openWorld();
  const response = await world.gateway.fetch(new Request('http://gateway.test/llms.txt'));
  expect(await response.text()).toContain(AGENT_RULES);
});

it('the head of SKILL.md keeps to the limits of its format', () => {
  expect(PURPOSE.length).toBeLessThanOrEqual(1024);
  expect(PURPOSE).not.toMatch(/: |<|>/);
});
