// Prints the schema to schema.graphql and, with federation directives, to subgraph.graphql; with --check says whether those files
// are what the code makes.
import { readFileSync, writeFileSync } from 'node:fs';
import { schema, subgraphSchema } from '../src/resolvers/schema.ts';
import { apiSdl, subgraphSdl } from '../src/resolvers/sdl.ts';

const FILES = { 'schema.graphql': apiSdl(schema), 'subgraph.graphql': subgraphSdl(subgraphSchema) };

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
