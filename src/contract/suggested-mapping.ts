// A mapping file and settings that would bridge the differences found.
import { stringify } from 'yaml';
import type { Report } from './report.ts';

/** Renamed fields by operation: path to the new name. */
export type SuggestedMapping = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The renamed fields of a report. @param present - existing mappings, which stay */
export function suggestMapping(
  { checks }: Pick<Report, 'checks'>,
  present: SuggestedMapping = {},
): SuggestedMapping {
  const proposal: Record<string, Record<string, string>> = {};
  for (const [name, fields] of Object.entries(present)) proposal[name] = { ...fields };
  for (const { answer, kind, path, name } of checks.flatMap(({ findings }) => findings)) {
    if (kind !== 'renamed' || name === undefined) continue;
    proposal[answer] = { ...proposal[answer], [path]: name };
  }
  return proposal;
}

/** The text of the file, with settings as comments. Empty when there is nothing to bridge. */
export function proposalText(proposal: SuggestedMapping, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `# ${name}=${value}\n`);
  const body = Object.keys(proposal).length === 0 ? '' : stringify(proposal);
  const head = lines.length === 0 ? '' : `# Set these too:\n${lines.join('')}`;
  return `${head}${body}`;
}
