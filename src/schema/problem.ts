// Problems: typed reasons why an operation was not done. resolvers/folds/submit/submit-result.ts
// and cancel.ts have those that carry a batch.
import { GraphQLError } from 'graphql';
import { ISSUE_CODES } from '../submission/issue-codes.ts';
import type { Issue } from '../submission/issues.ts';
import { builder, enumValues } from './builder.ts';
import { nonNull, publicNonNull, publicNullable } from './field-options.ts';

/** The fields of every problem. `kind` is the name of its GraphQL type. */
export interface ProblemShape<Kind extends string = string> {
  readonly kind: Kind;
  readonly message: string;
  readonly hint?: string | null;
}

export interface InvalidInputShape extends ProblemShape<'InvalidInput'> {
  readonly issues: readonly Issue[];
}

/** A refusal by the upstream, which queued nothing. */
export interface RefusedShape extends ProblemShape<'Refused'> {
  readonly reason: typeof RefusalReason.$inferType;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | null;
  readonly upstreamRequestId?: string | null;
}

export const invalidInput = (
  issues: readonly Issue[],
  message: string,
  hint?: string,
): InvalidInputShape => ({
  kind: 'InvalidInput',
  message,
  hint: hint ?? null,
  issues,
});

const HINTS = {
  batch: 'Check the id, and send the token that the batch was submitted with.',
  task: 'Check the id, and send the token that its batch was submitted with.',
  'bulk look-up': 'Check the id. Look-ups are stored for 3 days; start it again after that.',
} as const;

/** The answer of a mutation for an unknown id. */
export const notFound = (what: keyof typeof HINTS, id: string): ProblemShape<'NotFound'> => ({
  kind: 'NotFound',
  message:
    `There is no ${what} ${JSON.stringify(id.slice(0, 60))}` +
    `${what === 'bulk look-up' ? '' : ' of this caller'}.`,
  hint: HINTS[what],
});

/** The error of a subscription for an unknown id: it has no result that could be null. */
export function notFoundError(what: keyof typeof HINTS, id: string): GraphQLError {
  const { message, hint } = notFound(what, id);
  return new GraphQLError(`${message} ${hint}`, { extensions: { code: 'NOT_FOUND', retryable: false } });
}

/** A refusal of the gateway itself, which sent nothing; the same may succeed later. */
export const notSent = (message: string, hint: string): RefusedShape => ({
  kind: 'Refused',
  message,
  hint,
  reason: 'UNREACHABLE',
  retryable: true,
});

export const Problem = builder.interfaceRef<ProblemShape>('Problem').implement({
  description: 'Why an operation was not done.',
  resolveType: (problem) => problem.kind,
  fields: (t) => ({
    message: t.exposeString('message', publicNonNull('record', 'What is wrong, in one sentence.')),
    hint: t.exposeString('hint', publicNullable('record', 'What you can do about it.')),
  }),
});

export const UPSTREAM_REQUEST_ID = {
  description: "The upstream's id of the request, to quote when reporting a problem to it.",
} as const;

const IssueCodeEnum = builder.enumType('IssueCode', {
  description: 'What kind of mistake, or likely mistake, an input has. Later releases may add codes.',
  values: enumValues(ISSUE_CODES),
});

export const InputIssue = builder.objectRef<Issue>('InputIssue').implement({
  description: 'A mistake, or a likely mistake, in an input.',
  fields: (t) => ({
    path: t.exposeString(
      'path',
      publicNonNull(
        'record',
        'Path in the input, dotted, such as "items.3.chains.0.protein.sequence"; positions are 0-based. ' +
          'Empty where it is about the whole.',
      ),
    ),
    code: t.expose('code', {
      ...publicNonNull('record', 'What kind of mistake it is, for programs, such as POSITION_OUT_OF_RANGE.'),
      type: IssueCodeEnum,
    }),
    message: t.exposeString('message', publicNonNull('record', 'What is wrong, in one sentence.')),
    hint: t.exposeString('hint', publicNullable('record', 'What would be right.')),
  }),
});

export const InvalidInput = builder.objectRef<InvalidInputShape>('InvalidInput').implement({
  description: 'The input cannot be used. Nothing was queued.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.expose('issues', {
      ...publicNonNull('record', 'All mistakes in the input.'),
      type: [InputIssue],
    }),
  }),
});

export const NotFound = builder.objectRef<ProblemShape<'NotFound'>>('NotFound').implement({
  description: 'The object does not exist, here or upstream.',
  interfaces: [Problem],
});

const RefusalReason = builder.enumType('RefusalReason', {
  description: 'Why nothing was done.',
  values: enumValues({
    RATE_LIMIT: 'Too many requests. Wait, then send the same again.',
    CREDITS: 'The credits of this key are used up.',
    RATE_LIMIT_OR_CREDITS: 'One of the two; the upstream did not say which.',
    MODEL_UNAVAILABLE: 'The upstream does not offer the model to this key at present.',
    UNAUTHENTICATED: 'The key that the upstream was sent is missing or not valid; `hint` says whose it is.',
    FORBIDDEN: 'The key may not use this model, or a safety filter refused a sequence.',
    UNREACHABLE:
      'The gateway sent nothing: it could not connect to the upstream, its own store failed, or the time ' +
      'of the request was up. `message` says which.',
    INVALID_REQUEST: 'The upstream found a mistake in the input; `message` says which.',
  }),
});

export const Refused = builder.objectRef<RefusedShape>('Refused').implement({
  description: 'The upstream refused, or the gateway could not send. Nothing was queued or charged.',
  interfaces: [Problem],
  fields: (t) => ({
    reason: t.expose('reason', {
      ...nonNull('The reason of the refusal.'),
      type: RefusalReason,
    }),
    retryable: t.exposeBoolean('retryable', nonNull('Whether the upstream may accept the same input later.')),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'Seconds to wait before you try again, such as 30; null where the upstream did not say.',
    }),
    upstreamRequestId: t.exposeString('upstreamRequestId', UPSTREAM_REQUEST_ID),
  }),
});
