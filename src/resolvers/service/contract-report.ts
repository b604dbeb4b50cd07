// contractReport: the latest report of the contract watch, or the report of new checks.

import type { GatewayContext } from '../../context.ts';
import type { Check, Report } from '../../contract/report.ts';
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
      'Whether the upstream keeps its contract. The gateway checks in the background ' +
      '(CONTRACT_CHECK_MINUTES) and adds differences in ordinary answers at once.',
    args: {
      refresh: t.arg.boolean({
        defaultValue: false,
        description: 'Wait for new checks: about twenty free upstream calls, at most once in 30 seconds.',
      }),
    },
    cost: ({ refresh }) => ({ calls: refresh === true ? 25 : 0 }),
    resolve: (_root, { refresh }, ctx) => reportOf(ctx, refresh === true),
  }),
}));
