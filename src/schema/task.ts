// The Task as a noun: what List and Status say of one fold. It calls nothing.

import type { TaskStateName } from '../upstream/folds/batch-states.ts';
import { TaskState } from './batch.ts';
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';

/** Why a task failed, in the upstream's words. */
export interface TaskErrorShape {
  readonly code: string | null;
  readonly message: string;
  readonly raw: unknown;
}

/** A further output of a task, behind a signed URL. */
export interface ArtifactShape {
  readonly name: string;
  readonly url: string;
  readonly expiresAt: Date | null;
}

/** A task as List or Status tells it. */
export interface TaskShape {
  readonly taskId: string;
  /** Null when it cannot be told from the task's id, nor from the ledger. */
  readonly batchId: string | null;
  /** Position in the batch, 0-based; null when it cannot be told. */
  readonly index: number | null;
  readonly state: TaskStateName;
  readonly error: TaskErrorShape | null;
  readonly queueDeadline: Date | null;
  readonly resultsExpireAt: Date | null;
  /** Of the answer that told of this task alone; those of a whole batch stand at the batch. */
  readonly warnings: readonly string[];
  /** Whether a done task has a result to download; `ask` when only Status can tell. */
  readonly result: 'here' | 'expired' | 'none' | 'ask';
}

const TaskError = builder.objectRef<TaskErrorShape>('TaskError').implement({
  description: 'Why a task failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'A word for programs, where the upstream gives one.' }),
    message: t.exposeString('message', { nullable: false, description: 'What went wrong, in its words.' }),
    raw: t.expose('raw', { type: 'JSON', description: 'The error as it came.' }),
  }),
});

export const Artifact = builder.objectRef<ArtifactShape>('Artifact').implement({
  description: 'A further output of a task.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: 'Name of the output.' }),
    url: t.expose('url', {
      type: 'URL',
      nullable: false,
      description: 'Signed by the upstream and short-lived; needs no token.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the URL stops working, where the upstream says so.',
    }),
  }),
});

export const ResultAvailability = builder.enumType('ResultAvailability', {
  description: 'Whether there is a result to read.',
  values: {
    AVAILABLE: { description: 'Yes.' },
    NOT_READY: { description: 'Not yet: the task is queued or running.' },
    FAILED: { description: 'The task failed.' },
    CANCELLED: { description: 'The task was cancelled.' },
    EXPIRED: { description: 'There was one; the upstream keeps results for 31 days.' },
    UNKNOWN: { description: 'It cannot be told.' },
  } as const,
});

export const Task = builder.objectRef<TaskShape>('Task');

builder.node(Task, {
  extensions: keyedBy('taskId', 'id'),
  description: 'One fold: one item of a submission, once.',
  id: { resolve: ({ taskId }) => taskId, description: 'Relay id: give it to `node(id:)`.' },
  fields: (t) => ({
    taskId: t.exposeID('taskId', {
      nullable: false,
      description: 'The upstream\'s id of the task, such as "5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11-00000".',
    }),
    index: t.exposeInt('index', {
      description: 'Position in the batch, 0-based; index = repeatIndex * number of items + inputIndex.',
    }),
    state: t.expose('state', { type: TaskState, nullable: false, description: 'Where the task is.' }),
    error: t.expose('error', { type: TaskError, description: 'Why it failed; null unless it did.' }),
    queueDeadline: t.expose('queueDeadline', {
      type: 'DateTime',
      description: 'If it has not started by then it is cancelled, free of charge.',
    }),
    resultsExpireAt: t.expose('resultsExpireAt', {
      type: 'DateTime',
      description: 'Until when the upstream keeps its result.',
    }),
    warnings: t.stringList({
      nullable: { list: false, items: false },
      description: 'What Status warns of; those of a whole batch stand at the batch.',
      resolve: ({ warnings }) => warnings,
    }),
  }),
});
