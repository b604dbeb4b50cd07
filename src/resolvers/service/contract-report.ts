// contractReport: what the watch of the upstream's contract knows, at once, or after a fresh examination for who wants to wait.

import type { GatewayContext } from '../../context.ts';
import type { Check, Report } from '../../doctor/report.ts';
import { builder } from '../../schema/builder.ts';
import { type ContractCheckShape, ContractReport } from '../../schema/contract-report.ts';

const checksOf = ({ name, status, note, findings }: Check): ContractCheckShape[] =>
  findings.length === 0
    ? [{ name, status, path: null, expected: null, seen: note ?? null, consequence: null }]
    : findings.map(({ kind, path, expected, seen, meaning: consequence }) => ({
        name,
        status: kind === 'added' ? 'OK' : status,
        path,
        expected,
        seen,
        consequence,
      }));

async function reportOf({ services: { contract } }: GatewayContext, refresh: boolean) {
  const report: Report = refresh ? await contract.refresh() : contract.report();
  return { ...report, checks: report.checks.flatMap(checksOf) };
}

builder.queryFields((t) => ({
  contractReport: t.field({
    type: ContractReport,
    nullable: false,
    description:
      'Whether the upstream keeps its contract. Examined behind the answers (CONTRACT_CHECK_MINUTES); what normal traffic shows is in it at once.',
    args: {
      refresh: t.arg.boolean({
        defaultValue: false,
        description:
          'Waits for a fresh examination, some twenty free upstream calls; at most one every 30 seconds.',
      }),
    },
    cost: ({ refresh }) => ({ calls: refresh === true ? 25 : 0 }),
    resolve: (_root, { refresh }, ctx) => reportOf(ctx, refresh === true),
  }),
}));
