// Prints the schema to schema.graphql, or with --check says whether that file is what the code makes.
import { readFileSync, writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/schema.ts';

const FILE = new URL('../schema.graphql', import.meta.url);
const printed = `${printSchema(lexicographicSortSchema(schema))}\n`;

if (process.argv.includes('--check')) {
  const committed = readFileSync(FILE, 'utf8');
  if (committed !== printed) {
    process.stderr.write(
      'schema.graphql is not what the code makes. Run `npm run schema:print` and commit the file.\n',
    );
    process.exit(1);
  }
  process.stdout.write('schema.graphql is up to date.\n');
} else {
  writeFileSync(FILE, printed);
}
