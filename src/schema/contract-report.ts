// The contract report: how the upstream's answers differ from what it promises.
import { builder } from './builder.ts';

/** How a check ended. */
export type CheckStatusName = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

export interface ContractCheckShape {
  readonly name: string;
  readonly status: CheckStatusName;
  readonly path: string | null;
  readonly expected: string | null;
  readonly seen: string | null;
  readonly consequence: string | null;
}

export interface ContractReportShape {
  readonly checkedAt: Date;
  readonly upstream: string;
  readonly status: CheckStatusName;
  readonly checks: readonly ContractCheckShape[];
}

const CheckStatus = builder.enumType('CheckStatus', {
  description: 'How a check of the upstream ended.',
  values: {
    OK: { description: 'As promised.' },
    CHANGED: { description: 'Something differs from what is promised.' },
    UNREACHABLE: { description: 'There was no usable answer: the upstream was too busy or failed.' },
    SKIPPED: { description: 'Not checked, or not yet.' },
  } as const,
});

const ContractCheck = builder.objectRef<ContractCheckShape>('ContractCheck').implement({
  description:
    'One difference between what the upstream promises and what it does, or a check without a difference.',
  fields: (t) => ({
    name: t.exposeString('name', {
      nullable: false,
      description:
        'Name of the check, such as "protein" or "protein, unknown hash"; "…, seen in traffic" for a ' +
        'difference in the answer to an ordinary query.',
    }),
    status: t.expose('status', { type: CheckStatus, nullable: false, description: 'How the check ended.' }),
    path: t.exposeString('path', {
      description: 'Where in the answer, such as "sae_features[].value"; null where nothing differs.',
    }),
    expected: t.exposeString('expected', { description: 'What is promised there, such as "number".' }),
    seen: t.exposeString('seen', {
      description:
        'What was there: a kind, or another name, never a value; such as "string" or "named score".',
    }),
    consequence: t.exposeString('consequence', {
      description: 'What it means for queries, such as "ptm is null or empty in protein(hash:) and Protein".',
    }),
  }),
});

export const ContractReport = builder.objectRef<ContractReportShape>('ContractReport').implement({
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
        checks.filter((check) => status == null || check.status === status),
    }),
  }),
});
