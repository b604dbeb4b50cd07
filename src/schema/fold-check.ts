// What checkFold finds. submission/check.ts computes it.

import type { ItemCheck, SubmissionCheck } from '../submission/check.ts';
import { builder } from './builder.ts';
import { InputChain } from './input-chain.ts';
import { InputIssue } from './problem.ts';

/** Largest Int. No valid submission comes near it, but a dry run also measures invalid ones. */
const MAX_INT = 2 ** 31 - 1;
const counted = (number: number): number => Math.max(-MAX_INT, Math.min(MAX_INT, number));

const FoldItemCheck = builder.objectRef<ItemCheck>('FoldItemCheck').implement({
  description: 'One item of a submission, measured.',
  fields: (t) => ({
    index: t.exposeInt('index', { nullable: false, description: 'Position in `items`, 0-based.' }),
    name: t.exposeString('name', { description: 'Its name, as given.' }),
    chainCount: t.exposeInt('chainCount', {
      nullable: false,
      description: 'Chains of the complex, ligands included, every copy counted.',
    }),
    length: t.int({
      nullable: false,
      description: 'Residues and nucleotides, every copy counted.',
      resolve: ({ length }) => counted(length),
    }),
    ligandCount: t.exposeInt('ligandCount', { nullable: false, description: 'Ligands, every copy counted.' }),
    sameAs: t.exposeInt('sameAs', {
      description: 'Position of the first item with the same input; null when it is the first.',
    }),
    chains: t.expose('chains', {
      type: [InputChain],
      nullable: { list: false, items: false },
      description: 'Its chains, one entry for each entry of the input.',
    }),
  }),
});

export const FoldCheck = builder.objectRef<SubmissionCheck>('FoldCheck').implement({
  description: 'A dry run: nothing is sent upstream and nothing is spent.',
  fields: (t) => ({
    ok: t.boolean({
      nullable: false,
      description: 'Whether submitFold would send it.',
      resolve: ({ issues }) => issues.length === 0,
    }),
    issues: t.expose('issues', {
      type: [InputIssue],
      nullable: { list: false, items: false },
      description: 'All mistakes.',
    }),
    warnings: t.expose('warnings', {
      type: [InputIssue],
      nullable: { list: false, items: false },
      description: 'What is allowed but probably not intended.',
    }),
    taskCount: t.int({
      nullable: false,
      description: 'Number of tasks: items times repeats, such as 4.',
      resolve: ({ taskCount }) => counted(taskCount),
    }),
    totalLength: t.int({
      nullable: false,
      description:
        'Residues and nucleotides over all copies and repeats, such as 204: what the upstream counts.',
      resolve: ({ totalLength }) => counted(totalLength),
    }),
    items: t.expose('items', {
      type: [FoldItemCheck],
      nullable: { list: false, items: false },
      description: 'Each item, measured.',
    }),
  }),
});
