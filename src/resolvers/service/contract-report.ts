// contractReport: how the upstream's answers differ from what it promises, by the latest report of
// the contract watch or by new checks.

import type { Check, CheckStatus as CheckStatusName, Finding, Report } from '../../contract/report.ts';
import { builder } from '../../schema/builder.ts';

const CheckStatus = builder.enumType('CheckStatus', {
  description: 'How a check of the upstream ended.',
  values: {
    OK: { description: 'As promised.' },
    CHANGED: { description: 'Something differs from what is promised.' },
    UNREACHABLE: { description: 'There was no usable answer: the upstream was too busy or failed.' },
    SKIPPED: { description: 'Not checked, or not yet.' },
  } as const satisfies Record<CheckStatusName, object>,
});

/** A difference, or a check without any. */
interface Row {
  readonly check: Check;
  readonly finding?: Finding;
}

const rowsOf = (check: Check): Row[] =>
  check.findings.length === 0 ? [{ check }] : check.findings.map((finding) => ({ check, finding }));

/** What is added takes nothing away. */
const statusOf = ({ check, finding }: Row): CheckStatusName =>
  finding?.kind === 'added' ? 'OK' : check.status;

const ContractCheck = builder.objectRef<Row>('ContractCheck').implement({
  description:
    'One difference between what the upstream promises and what it does, or a check without a difference.',
  fields: (t) => ({
    name: t.string({
      nullable: false,
      description:
        'Name of the check, such as "protein" or "protein, unknown hash"; "…, seen in traffic" for a ' +
        'difference in the answer to an ordinary query.',
      resolve: ({ check }) => check.name,
    }),
    status: t.field({
      type: CheckStatus,
      nullable: false,
      description: 'How the check ended.',
      resolve: statusOf,
    }),
    path: t.string({
      description: 'Where in the answer, such as "sae_features[].value"; null where nothing differs.',
      resolve: ({ finding }) => finding?.path,
    }),
    expected: t.string({
      description: 'What is promised there, such as "number".',
      resolve: ({ finding }) => finding?.expected,
    }),
    seen: t.string({
      description:
        'What was there: a kind, or another name, never a value; such as "string" or "named score".',
      resolve: ({ check, finding }) => (finding === undefined ? check.note : finding.seen),
    }),
    consequence: t.string({
      description: 'What it means for queries, such as "ptm is null or empty in protein(hash:) and Protein".',
      resolve: ({ finding }) => finding?.meaning,
    }),
  }),
});

const ContractReport = builder.objectRef<Report>('ContractReport').implement({
  description:
    'Whether the upstream keeps its contract: the last examination, and what was noticed in answers since.',
  fields: (t) => ({
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When it was last checked; when the gateway started if it never was.',
    }),
    upstream: t.expose('upstream', {
      type: 'URL',
      nullable: false,
      description: 'The upstream\'s address without credentials, such as "https://api.example.org".',
    }),
    status: t.expose('status', {
      type: CheckStatus,
      nullable: false,
      description: 'Overall: CHANGED when any check is, SKIPPED before the first checks.',
    }),
    checks: t.field({
      type: [ContractCheck],
      nullable: false,
      description: 'One for each difference, and one for each check without any.',
      args: { status: t.arg({ type: CheckStatus, description: 'Only checks with this status.' }) },
      resolve: ({ checks }, { status }) =>
        checks.flatMap(rowsOf).filter((row) => status == null || statusOf(row) === status),
    }),
  }),
});

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
    resolve: (_root, { refresh }, { services: { contract } }) =>
      refresh === true ? contract.refresh() : contract.report(),
  }),
}));
