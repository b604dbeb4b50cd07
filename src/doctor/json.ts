// The report as JSON, for scripts. Keys are stable: new ones may come, none goes without a note in the changelog.

import type { Report } from './report.ts';
import type { SuggestedMapping } from './suggested-mapping.ts';

/** One JSON document with a newline at its end. */
export const jsonOfReport = (report: Report, mapping: SuggestedMapping): string =>
  `${JSON.stringify({ ...report, mapping }, null, 2)}\n`;
