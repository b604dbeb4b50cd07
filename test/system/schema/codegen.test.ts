// Types made from the schema and all examples by the two generators that people use,
// graphql-codegen's client preset and the Relay compiler, configured as examples/ recommends;
// TypeScript checks what they made at its strictest.
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import type * as graphql from 'graphql';
import {
  buildClientSchema,
  type DocumentNode,
  getIntrospectionQuery,
  type IntrospectionQuery,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import codegenConfig, { SCALARS } from '../../../examples/codegen.ts';
import relayConfig from '../../../examples/relay.config.json' with { type: 'json' };
import { readExamples } from '../../../src/http/pages/examples.ts';
import { serve } from '../../subscriptions/streams.ts';
import { openWorld } from '../../support.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SDL = readFileSync(join(ROOT, 'schema.graphql'), 'utf8');
const examples = readExamples();
const require = createRequire(import.meta.url);

let folder = '';
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-types-'));
  mkdirSync(join(folder, 'src/gql'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(ROOT, 'schema.graphql'), join(folder, 'schema.graphql'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs graphql-codegen as its command line does for one folder of its configuration: names and
 * texts of files.
 */
async function runClientPreset(sdl: string): Promise<[string, string][]> {
  const { config, presetConfig } = codegenConfig.generates['./src/gql/'];
  const schema = parse(sdl);
  // The generator's own graphql; a schema of another copy is none for it.
  const { buildSchema }: typeof graphql = require('graphql');
  const made = await preset.buildGeneratesSection({
    baseOutputDir: `${join(folder, 'src/gql')}/`,
    schema,
    schemaAst: buildSchema(sdl),
    documents: examples.map(({ name, query }) => ({
      location: `${name}.graphql`,
      rawSDL: query,
      document: parse(query),
    })),
    config,
    presetConfig,
    plugins: [],
    pluginMap: {},
  });
  return Promise.all(made.map(async (one): Promise<[string, string]> => [one.filename, await codegen(one)]));
}

/** An example as Relay wants it: the operation named for its module and kind. */
function forRelay(document: DocumentNode): { module: string; text: string } {
  let module = '';
  const written = visit(document, {
    OperationDefinition(node) {
      module = node.name?.value ?? '';
      const kind = node.operation.charAt(0).toUpperCase() + node.operation.slice(1);
      return node.name === undefined ? node : { ...node, name: { ...node.name, value: `${module}${kind}` } };
    },
  });
  return { module, text: print(written) };
}

/**
 * Code of a client that uses the types: it does not compile when one of them is not what it has
 * to be.
 */
const USES = `
import type { ProteinCardQuery, SubmitFoldMutationVariables } from './gql/graphql.ts';
import { SubmitFoldDocument } from './gql/graphql.ts';
import type { SubmitFoldMutation$variables } from './__generated__/SubmitFoldMutation.graphql.ts';
import type { ProteinCardQuery$data } from './__generated__/ProteinCardQuery.graphql.ts';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';

const input: SubmitFoldMutationVariables = { input: { items: [{ chains: [{ protein: { sequence: 'MALW' } }] }] } };
const relayInput: SubmitFoldMutation$variables = { input: { items: [{ chains: [{ ligand: { ccd: ['ZN'] } }] }] } };
// @ts-expect-error exactly one kind of chain
const two: SubmitFoldMutation$variables = { input: { items: [{ chains: [{ ligand: { ccd: ['ZN'] }, rna: { sequence: 'G' } }] }] } };
// @ts-expect-error a sequence is a string
const wrong: SubmitFoldMutationVariables = { input: { items: [{ chains: [{ protein: { sequence: 1 } }] }] } };

export const readHash = (data: ProteinCardQuery): string | undefined => data.protein?.hash;
export const readUrl = (data: ProteinCardQuery$data): string | undefined => data.protein?.thumbnail.url;
export const typed: TypedDocumentNode<unknown, SubmitFoldMutationVariables> = SubmitFoldDocument;
// @ts-expect-error not everything has a name
export const readName = (data: ProteinCardQuery): string => data.protein.name;
export const readMessage = (result: import('./gql/graphql.ts').SubmitFoldMutation): string => {
  const { submitFold } = result;
  return submitFold?.__typename === 'FoldSubmitted' ? submitFold.message : (submitFold?.__typename ?? 'failed');
};
export const all = [input, relayInput, two, wrong];
`;

const STRICT = {
  strict: true,
  noEmit: true,
  target: 'ES2023',
  module: 'ESNext',
  moduleResolution: 'Bundler',
  allowImportingTsExtensions: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  // relay-runtime's own declarations do not pass.
  skipLibCheck: true,
  types: [],
};

/** The introspection options of code generators. */
const EVERYTHING = { specifiedByUrl: true, inputValueDeprecation: true, oneOf: true };

describe('generated types', () => {
  it('are the same from a running gateway, by introspection and by /schema.graphql', async () => {
    const world = await openWorld();
    const served = await serve(world.gateway);
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: getIntrospectionQuery(EVERYTHING) }),
    });
    const { data } = (await response.json()) as { data: IntrospectionQuery };
    const sdl = await (await fetch(new URL('/schema.graphql', served.url))).text();
    await served.close();
    await world.close();
    expect(sdl).toBe(SDL);
    const introspected = buildClientSchema(data);
    expect(Object.keys(introspected.getTypeMap()).filter((name) => /^_[^_]/.test(name))).toEqual([]);
    const scalars = Object.values(introspected.getTypeMap()).filter(isScalarType);
    expect(
      scalars
        .filter((scalar) => !isSpecifiedScalarType(scalar) && !scalar.specifiedByURL)
        .map(({ name }) => name),
    ).toEqual([]);
    expect(await runClientPreset(printSchema(lexicographicSortSchema(introspected)))).toEqual(
      await runClientPreset(SDL),
    );
  });

  it('name every scalar of the schema, for both generators', () => {
    const scalars = [...SDL.matchAll(/^scalar (\w+)/gm)].map(([, name]) => name);
    expect(Object.keys(SCALARS).sort()).toEqual(scalars.sort());
    expect(relayConfig.customScalarTypes).toEqual(SCALARS);
  });

  it('come from the client preset and the Relay compiler for all examples, and hold at the strictest', async () => {
    const files = await runClientPreset(SDL);
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const [name, text] of files) writeFileSync(name, text);

    for (const { query } of examples) {
      const { module, text } = forRelay(parse(query));
      write(
        `src/${module}.ts`,
        `import { graphql } from 'relay-runtime';\nexport const operation = graphql\`\n${text}\`;\n`,
      );
    }
    write('relay.config.json', JSON.stringify(relayConfig));
    await run(process.execPath, [require.resolve('relay-compiler/cli.js'), 'relay.config.json'], {
      cwd: folder,
    });
    const artifacts = readdirSync(join(folder, 'src/__generated__'));
    // One for each operation, and one for each fragment.
    const definitions = examples.flatMap(({ query }) => parse(query).definitions);
    expect(artifacts).toHaveLength(definitions.length);

    write('package.json', JSON.stringify({ type: 'module' }));
    write('src/uses.ts', USES);
    write('tsconfig.json', JSON.stringify({ compilerOptions: STRICT, include: ['src'] }));
    const checked = await run(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', '.'], {
      cwd: folder,
    }).catch((error: { stdout: string }) => error);
    expect(checked.stdout).toBe('');
  });
});
