// checkFold: a dry run of submitFold that also looks the input up in the ledger.
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { InputIssue } from '../../../schema/problem.ts';
import { SubmitFoldInput } from '../../../schema/submit-input.ts';
import { InputChain } from '../../../schema/task.ts';
import type { EarlierSubmission } from '../../../store/ledger/ledger.ts';
import type { BondAtom } from '../../../submission/bonds.ts';
import type { ItemCheck, SubmissionCheck } from '../../../submission/check.ts';
import type { SubmissionInput } from '../../../submission/input.ts';
import type { Issue } from '../../../submission/issues.ts';
import { submissionHash } from '../../../submission/wire-body.ts';
import { type CheckedInput, checkCost, checkInput, reserveWebhook } from './check-input.ts';

/** Largest Int. No valid submission comes near it, but a dry run also measures invalid ones. */
const MAX_INT = 2 ** 31 - 1;
const toInt = (number: number): number => Math.max(-MAX_INT, Math.min(MAX_INT, number));

const BondedAtom = builder.objectRef<BondAtom>('BondedAtom').implement({
  description: 'An atom of a covalent bond, as the gateway reads it. The upstream gets its index.',
  fields: (t) => ({
    chainId: t.exposeString('chainId', nonNull('Its chain, such as "A".')),
    residueIndex: t.exposeInt('residueIndex', nonNull('Its residue in that chain, 0-based, such as 41.')),
    component: t.string({
      description: 'What the residue is, such as "ASN"; null for a SMILES and where it is not known.',
      resolve: ({ residue }) => residue?.component ?? null,
    }),
    atomIndex: t.exposeInt('atomIndex', {
      description: 'Its heavy atom in that residue, 0-based, such as 7; null for a name that has no index.',
    }),
    atomName: t.string({
      description: 'The name that the index means, such as "ND2"; null where names are not known.',
      resolve: ({ residue, atomIndex }) => residue?.names?.[atomIndex ?? -1] ?? null,
    }),
    element: t.string({
      description: 'Its element, such as "N"; null where it is not known.',
      resolve: ({ residue, atomIndex }) => residue?.elements[atomIndex ?? -1] ?? null,
    }),
  }),
});

const FoldItemCheck = builder.objectRef<ItemCheck>('FoldItemCheck').implement({
  description: 'One item of a submission, measured.',
  fields: (t) => ({
    index: t.exposeInt('index', nonNull('Position in `items`, 0-based.')),
    name: t.exposeString('name', { description: 'Its name, as given.' }),
    chainCount: t.exposeInt('chainCount', {
      nullable: false,
      description: 'Chains of the complex, ligands included, every copy counted.',
    }),
    length: t.int({
      ...nonNull('Residues and nucleotides, every copy counted.'),
      resolve: ({ length }) => toInt(length),
    }),
    ligandCount: t.exposeInt('ligandCount', nonNull('Ligands, every copy counted.')),
    sameAs: t.exposeInt('sameAs', {
      description: 'Position of the first item with the same input; null when it is the first.',
    }),
    chains: t.expose('chains', {
      ...nonNull('Its chains, one entry for each entry of the input.'),
      type: [InputChain],
    }),
    covalentBonds: t.field({
      ...nonNull('The two atoms of each covalent bond, in the order of the input.'),
      type: t.listRef([BondedAtom]),
      resolve: ({ covalentBonds }) => covalentBonds.map(({ ends }) => ends),
    }),
  }),
});

const FoldCheck = builder.objectRef<SubmissionCheck>('FoldCheck').implement({
  description: 'A dry run: nothing is sent upstream and nothing is spent.',
  fields: (t) => ({
    ok: t.boolean({
      ...nonNull('Whether submitFold would send it.'),
      resolve: ({ issues }) => issues.length === 0,
    }),
    issues: t.expose('issues', {
      ...nonNull('All mistakes.'),
      type: [InputIssue],
    }),
    warnings: t.expose('warnings', {
      ...nonNull('What is allowed but probably not intended.'),
      type: [InputIssue],
    }),
    taskCount: t.int({
      ...nonNull('Number of tasks: items times repeats, such as 4.'),
      resolve: ({ taskCount }) => toInt(taskCount),
    }),
    totalLength: t.int({
      nullable: false,
      description:
        'Residues and nucleotides over all copies and repeats, such as 204. The upstream may count ' +
        'ligands, too.',
      resolve: ({ totalLength }) => toInt(totalLength),
    }),
    items: t.expose('items', {
      ...nonNull('Each item, measured.'),
      type: [FoldItemCheck],
    }),
  }),
});

/** Batches that are compared with an input of another label, and labels that are tried. */
const COMPARED_BATCHES = 100;
const COMPARED_LABELS = 10;

/** The earlier submission of the same input, whatever its label, which is part of the hash. */
async function findEarlier(
  ctx: GatewayContext,
  { submission, hash }: CheckedInput,
): Promise<EarlierSubmission | null> {
  const { ledger, principal } = ctx.submissions;
  const same = await ledger.earlier(principal, hash);
  if (same !== null) return same;
  const { batches } = await ledger.batches(principal, { first: COMPARED_BATCHES, after: null });
  const alike = batches.filter(
    ({ itemCount, repeat, model }) =>
      itemCount === submission.items.length && repeat === submission.repeat && model === submission.model,
  );
  const labels = new Set(alike.map(({ label }) => label));
  labels.delete(submission.label);
  for (const label of [...labels].slice(0, COMPARED_LABELS)) {
    const labelled = submissionHash({ ...submission, label });
    const found = alike.find(({ inputHash }) => inputHash === labelled);
    if (found !== undefined) return { batchId: found.batchId, at: found.submittedAt };
  }
  return null;
}

/** Whether the input was sent under the same key, with which submitFold pays nothing again. */
async function isReplay(ctx: GatewayContext, { submission, hash }: CheckedInput): Promise<boolean> {
  const { ledger, principal } = ctx.submissions;
  const key = submission.idempotencyKey;
  return key !== null && (await ledger.requestHash(principal, key)) === hash;
}

/** Warns of an earlier submission of the same input, or that none could be looked up. */
async function findEarlierWarning(ctx: GatewayContext, checked: CheckedInput): Promise<Issue | null> {
  let earlier: EarlierSubmission | null;
  try {
    earlier = await findEarlier(ctx, checked);
    if (earlier !== null && earlier.batchId !== null && (await isReplay(ctx, checked))) return null;
  } catch (error) {
    ctx.services.storeFailed('ledger', error, ctx.requestId);
    return {
      path: '',
      code: 'EARLIER_NOT_KNOWN',
      message: 'Whether the same input was submitted before could not be looked up.',
      hint: 'The store of the gateway does not answer at present. Check again in a moment.',
    };
  }
  if (earlier === null) return null;
  const at = new Date(earlier.at).toISOString();
  if (earlier.batchId === null)
    return {
      path: '',
      code: 'EARLIER_OUTCOME_UNKNOWN',
      message: `The same input was sent at ${at}, and its outcome is unknown.`,
      hint: 'Some of it may be queued and charged already.',
    };
  return {
    path: '',
    code: 'ALREADY_SUBMITTED',
    message: `The same input was sent at ${at} and is batch ${earlier.batchId}.`,
    hint: 'Read that batch instead of paying again.',
  };
}

async function checkFold(ctx: GatewayContext, input: SubmissionInput): Promise<SubmissionCheck> {
  const checked = await checkInput(ctx, input);
  const { check } = checked;
  if (check.issues.length > 0) return check;
  if (checked.submission.notifyUrl !== null) {
    const place = await reserveWebhook(ctx);
    if ('code' in place) return { ...check, issues: [place] };
    place.release();
  }
  const earlier = await findEarlierWarning(ctx, checked);
  return earlier === null ? check : { ...check, warnings: [...check.warnings, earlier] };
}

builder.queryFields((t) => ({
  checkFold: t.field({
    semanticNonNull: true,
    description:
      'A dry run of submitFold: reports all mistakes, sends and spends nothing. Null only with an error.',
    type: FoldCheck,
    cost: ({ input }) => ({ calls: checkCost(input) }),
    args: {
      input: t.arg({ type: SubmitFoldInput, required: true, description: 'The input of submitFold.' }),
    },
    resolve: (_, { input }, ctx) => checkFold(ctx, input),
  }),
}));
