// Compares schema.graphql with that of the last release and fails when an operation that worked would not any more. The schemas
// of releases stand in releases/, named by version; beside one, `<version>.breaks.txt` lists the breaking changes that were decided, below a # line
// with the reason.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { schemaChanges } from './schema-changes.ts';

const [given = new URL('../schema.graphql', import.meta.url)] = process.argv.slice(2);
const RELEASES = new URL('../releases/', import.meta.url);

const versions = readdirSync(RELEASES)
  .filter((name) => name.endsWith('.graphql'))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
const last = versions.at(-1);
if (last === undefined) throw new Error('releases/ holds no schema to compare with.');

const { breaking, dangerous } = schemaChanges(
  readFileSync(new URL(last, RELEASES), 'utf8'),
  readFileSync(given, 'utf8'),
  new Date().toISOString().slice(0, 10),
);
const decidedFile = new URL(last.replace(/graphql$/, 'breaks.txt'), RELEASES);
const lines = existsSync(decidedFile) ? readFileSync(decidedFile, 'utf8').split('\n') : [];
const decided = lines.filter((line) => line !== '' && !line.startsWith('#'));
const undecided = breaking.filter((change) => !decided.includes(change));
const gone = decided.filter((change) => !breaking.includes(change));

for (const change of breaking)
  if (decided.includes(change)) process.stdout.write(`Breaks clients, as decided: ${change}\n`);
for (const change of dangerous) process.stdout.write(`Clients may be surprised: ${change}\n`);
if (gone.length > 0) {
  for (const change of gone)
    process.stderr.write(`No longer so, take it out of ${decidedFile.pathname}: ${change}\n`);
  process.exitCode = 1;
} else if (undecided.length > 0) {
  for (const change of undecided) process.stderr.write(`Breaks clients: ${change}\n`);
  process.stderr.write(
    `${undecided.length} change(s) since releases/${last} break clients. Keep what was there, mark it with @deprecated, and remove it after the date named there (docs/deprecation.md).\n`,
  );
  process.exitCode = 1;
} else {
  process.stdout.write(`Nothing else that clients of releases/${last} use is gone or changed.\n`);
}
