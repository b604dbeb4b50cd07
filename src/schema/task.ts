// The Task type, one fold as List and Status report it, and a submitted chain.
import type { ChainSummary } from '../submission/measure.ts';
import type { TaskStateName } from '../upstream/folds/batch-states.ts';
import type { ListItem, TaskStatus as StatusAnswer } from '../upstream/wire.ts';
import { builder, enumValues, keyedBy } from './builder.ts';
import { nonNull } from './field-options.ts';

export const ChainKind = builder.enumType('ChainKind', {
  description: 'What a chain is made of.',
  values: enumValues({
    PROTEIN: 'Amino acids.',
    RNA: 'Ribonucleotides.',
    DNA: 'Deoxyribonucleotides.',
    LIGAND: 'Small molecules and ions.',
  }),
});

export const InputChain = builder.objectRef<ChainSummary>('InputChain').implement({
  description: 'A chain as it was submitted. The gateway stores the hash of its sequence, not the sequence.',
  fields: (t) => ({
    ids: t.exposeStringList(
      'ids',
      nonNull('One id for each copy, such as ["A", "B"]; empty when you left the naming to the upstream.'),
    ),
    kind: t.expose('kind', { type: ChainKind, nullable: false, description: 'What it is made of.' }),
    length: t.exposeInt('length', nonNull('Residues or nucleotides of one copy; 0 for a ligand.')),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'MD5 of the sequence of a protein, its id in the Atlas; null for other kinds.',
    }),
  }),
});

export interface TaskErrorShape {
  readonly code: string | null;
  readonly message: string;
  readonly raw: unknown;
}

export interface ArtifactShape {
  readonly name: string;
  readonly url: string;
  readonly expiresAt: Date | null;
}

export interface TaskShape {
  readonly taskId: string;
  /** Null when neither the task's id nor the ledger gives it. */
  readonly batchId: string | null;
  /** Position in the batch, 0-based; null when it is unknown. */
  readonly index: number | null;
  /** As the service says it: DONE also after the result has expired. */
  readonly state: TaskStateName;
  readonly error: TaskErrorShape | null;
  readonly queueDeadline: Date | null;
  readonly resultsExpireAt: Date | null;
  /** Warnings of the Status answer; null for a task of List, whose warnings belong to the batch. */
  readonly warnings: readonly string[] | null;
  /** Whether a done task has a result to download; `ask` when only Status can tell. */
  readonly result: 'here' | 'expired' | 'none' | 'ask';
  /** The answer of List or Status itself, for fields that need no more than a name. */
  readonly record: Partial<Omit<ListItem, 'task_id'> & StatusAnswer>;
}

export const TaskError = builder.objectRef<TaskErrorShape>('TaskError').implement({
  description: 'Why a task failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'A code for programs; null where the upstream gives none.' }),
    message: t.exposeString('message', nonNull('What went wrong, as the upstream says it.')),
    raw: t.expose('raw', { type: 'JSON', description: "The upstream's error, unchanged." }),
  }),
});

export const Artifact = builder.objectRef<ArtifactShape>('Artifact').implement({
  description: 'An additional output of a task.',
  fields: (t) => ({
    name: t.exposeString('name', nonNull('Name of the output.')),
    url: t.expose('url', {
      ...nonNull('Signed by the upstream and short-lived; needs no token.'),
      type: 'URL',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the URL stops working; null where the upstream does not say.',
    }),
  }),
});

export const TaskOrder = builder.enumType('TaskOrder', {
  description: 'The order of a list of tasks. Tasks without the score stand last, equal ones as submitted.',
  values: enumValues({
    INDEX: 'As submitted: repeat by repeat, and by item in each repeat.',
    NAME: 'By the name of the item, numbers in it by value: "d2" before "d10".',
    IPTM: 'Best ipTM first, of equal ones and of single chains, which have none, best pTM.',
    IPSAE: 'Best ipSAE of any two chains first, of equal ones best ipTM; needs includePae.',
    PTM: 'Best pTM first.',
    PLDDT: 'Best mean pLDDT first.',
  }),
});
export type TaskOrderName = typeof TaskOrder.$inferType;
export const TaskStatus = builder.enumType('TaskStatus', {
  description:
    'Where a task is, in the words of the service. DONE becomes EXPIRED after 31 days; FAILED, CANCELLED ' +
    'and EXPIRED are final.',
  values: enumValues({
    QUEUED: 'Waiting to start; can still be cancelled.',
    IN_PROGRESS: 'Being folded; it will be charged.',
    DONE: 'Folded; `result` is there.',
    EXPIRED: 'Folded; the upstream has deleted the result, as it does after 31 days.',
    FAILED: 'Folding failed; `error` says why.',
    CANCELLED: 'Cancelled before it started, by you or after 24 hours in the queue; not charged.',
    UNKNOWN: 'A state that this gateway does not know; `upstreamState` is its word.',
  }),
});
export type TaskStatusName = typeof TaskStatus.$inferType;

export const Task = builder.objectRef<TaskShape>('Task');

builder.node(Task, {
  extensions: keyedBy('taskId', 'id'),
  description: 'One fold: one item of a submission, once.',
  id: { resolve: ({ taskId }) => taskId },
  fields: (t) => ({
    taskId: t.exposeID('taskId', {
      nullable: false,
      description: 'The upstream\'s id of the task, such as "5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11-00000".',
    }),
    index: t.exposeInt('index', {
      description: 'Position in the batch, 0-based; index = repeatIndex * number of items + inputIndex.',
    }),
    upstreamState: t.string({
      description: 'The word of the upstream for its state, such as "in_progress".',
      resolve: ({ record }) => record.status || null,
    }),
    queueDeadline: t.expose('queueDeadline', {
      type: 'DateTime',
      description: 'If it has not started by this time, the upstream cancels it, free of charge.',
    }),
    resultsExpireAt: t.expose('resultsExpireAt', {
      type: 'DateTime',
      description: 'When the upstream deletes its result.',
    }),
  }),
});
