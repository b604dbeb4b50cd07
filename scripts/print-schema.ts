// Prints the schema to schema.graphql, with federation directives to federation/subgraph.graphql,
// and the members of its unions and interfaces for Apollo Client. With --check it says whether
// those files are what the code makes.
import { readFileSync, writeFileSync } from 'node:fs';
import { isInterfaceType, isUnionType } from 'graphql';
import { schema, subgraphSchema } from '../src/resolvers/schema.ts';
import { apiSdl, subgraphSdl } from '../src/resolvers/sdl.ts';

const possibleTypes = Object.values(schema.getTypeMap())
  .filter((type) => isUnionType(type) || isInterfaceType(type))
  .map((type) => {
    const members = schema.getPossibleTypes(type).map(({ name }) => `    '${name}',\n`);
    return `  ${type.name}: [\n${members.join('')}  ],\n`;
  });
const FILES = {
  'schema.graphql': apiSdl(schema),
  'federation/subgraph.graphql': subgraphSdl(subgraphSchema),
  'examples/clients/possible-types.ts': `// Members of unions and interfaces, for Apollo Client's cache. Written by \`npm run schema:print\`.
export const possibleTypes: Record<string, string[]> = {
${possibleTypes.join('')}};
`,
};

for (const [name, printed] of Object.entries(FILES)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, printed);
  } else if (readFileSync(file, 'utf8') === printed) {
    process.stdout.write(`${name} is up to date.\n`);
  } else {
    process.stderr.write(
      `${name} is not what the code makes. Run "npm run schema:print" and commit the file.\n`,
    );
    process.exitCode = 1;
  }
}
