// Reads the build as a stranger would: what its source maps and comments name must have a licence.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from './root.ts';

/** Folders of a package's own repository, which its map names as if they were packages. */
const OF_OTHERS = ['@modelcontextprotocol/core-internal'];

const read = (folder: string, file: string): string => readFileSync(join(ROOT, folder, file), 'utf8');

const billSchema = z.object({
  components: z.array(
    z.object({ name: z.string(), purl: z.string(), licenses: z.array(z.object({ expression: z.string() })) }),
  ),
});
const mapSchema = z.object({ sources: z.array(z.string()) });

/** The last package of each path in source maps and in comments of a build. */
function packagesOfBuild(folder: string): string[] {
  const names = new Set<string>();
  const add = (path: string): void => {
    const name = /.*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//.exec(path)?.[1];
    if (name !== undefined && !OF_OTHERS.includes(name)) names.add(name);
  };
  for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.map')) mapSchema.parse(JSON.parse(read(folder, file))).sources.forEach(add);
    if (file.endsWith('.js'))
      for (const [comment] of read(folder, file).matchAll(/\/\/ (?:\.\.\/)*node_modules\/[^\s"\\]+/g))
        add(comment);
  }
  return [...names].sort();
}

/** Each package of THIRD_PARTY_LICENSES.txt with its text. */
function licencesOfBuild(folder: string): Map<string, string> {
  const texts = new Map<string, string>();
  const sections = read(folder, 'THIRD_PARTY_LICENSES.txt').split(`\n${'='.repeat(80)}\n\n`);
  // The last one is data that is no package.
  expect(sections.pop()).toContain('Chemical Component Dictionary of the wwPDB');
  for (const section of sections) {
    const end = section.indexOf('\n\n');
    for (const line of section.slice(0, end).split('\n'))
      texts.set(line.replace(/ .*/, ''), section.slice(end).trim());
  }
  return texts;
}

describe.each([
  // React and Prettier come inside GraphiQL, AJV inside the MCP SDK.
  { folder: 'dist', among: ['graphql-yoga', 'ajv', 'fast-uri', 'content-type', 'prettier', 'monaco-editor'] },
  { folder: 'sandbox/dist', among: ['hono', 'zod'] },
])('The licences in $folder', ({ folder, among }) => {
  const packages = packagesOfBuild(folder);
  const licences = licencesOfBuild(folder);

  it('name every package whose code is in the build', () => {
    expect(packages).toEqual(expect.arrayContaining(among));
    expect(packages.filter((name) => !licences.has(name))).toEqual([]);
  });

  it('have a text for each package', () => {
    const short = [...licences].filter(
      ([, text]) => !/copyright|permission/i.test(text) || text.length < 500,
    );
    expect(short).toEqual([]);
  });

  it('stand in the bill of materials as well', () => {
    const { components } = billSchema.parse(JSON.parse(read(folder, 'sbom.cdx.json')));
    const names = components.map(({ name }) => name);
    expect([...licences.keys()].filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
  });
});

it('The bill of materials names what npm installs beside the build', () => {
  const { components } = billSchema.parse(JSON.parse(read('dist', 'sbom.cdx.json')));
  const names = components.map(({ name }) => name);
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('.', 'package.json')));
  expect(names).toEqual(
    expect.arrayContaining([...Object.keys(dependencies), 'foldatlas-sandbox', '@keyv/serialize']),
  );
  // React comes inside GraphiQL's bundle, which says nothing of it.
  expect(names).toEqual(expect.arrayContaining(['react', 'react-dom', 'llhttp']));
});
