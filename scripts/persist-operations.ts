// Writes the example operations and the documents of the tools for agents as a list of persisted
// operations, each by the SHA-256 of its text; with --check says whether the file is what they
// make.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENTS } from '../src/http/mcp/tools.ts';
import { readExamples } from '../src/http/pages/examples.ts';

const NAME = 'operations/persisted-operations.json';
const FILE = new URL(`../${NAME}`, import.meta.url);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const documents = [...readExamples().map(({ query }) => query), ...DOCUMENTS];
const operations = Object.fromEntries(documents.map((query) => [sha256(query), query]));
const text = `${JSON.stringify(operations, null, 2)}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text);
} else if (readFileSync(FILE, 'utf8') === text) {
  process.stdout.write(`${NAME} is up to date.\n`);
} else {
  process.stderr.write(
    `${NAME} is not what examples/ and the tools make. Run "npm run operations" and commit the file.\n`,
  );
  process.exitCode = 1;
}
