// Compares schema.graphql with that of the last release and fails when an operation that worked
// would not any more. The schemas of releases stand in releases/, named by version.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { schemaChanges } from './schema-changes.ts';

const [given = new URL('../schema.graphql', import.meta.url)] = process.argv.slice(2);
const RELEASES = new URL('../releases/', import.meta.url);

const last = (existsSync(RELEASES) ? readdirSync(RELEASES) : [])
  .filter((name) => name.endsWith('.graphql'))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .at(-1);
if (last === undefined) {
  process.stdout.write('Nothing was released yet, so nothing can break.\n');
} else {
  const { breaking, dangerous } = schemaChanges(
    readFileSync(new URL(last, RELEASES), 'utf8'),
    readFileSync(given, 'utf8'),
    new Date().toISOString().slice(0, 10),
  );
  for (const change of dangerous) process.stdout.write(`Clients may be surprised: ${change}\n`);
  for (const change of breaking) process.stderr.write(`Breaks clients: ${change}\n`);
  if (breaking.length > 0) {
    process.stderr.write(
      `${breaking.length} change(s) since releases/${last} break clients. Keep what was there, mark it with @deprecated, and remove it after the date named there (docs/deprecation.md).\n`,
    );
    process.exitCode = 1;
  } else process.stdout.write(`Nothing that clients of releases/${last} use is gone or changed.\n`);
}
