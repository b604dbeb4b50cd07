// Why something was not done, as types that a client can handle one by one: each is made from a plain record whose
// `kind` is the name of its type. It must not know who refuses or when; problems that carry a batch are in submit.ts
// and cancel.ts.
import { builder } from './builder.ts';

/** What every problem says. `kind` is the name of its GraphQL type. */
export interface ProblemBase<Kind extends string> {
  readonly kind: Kind;
  readonly message: string;
  readonly hint?: string | null;
  readonly upstreamRequestId?: string | null;
}

/** One thing about an input that is wrong or likely wrong. */
export interface IssueShape {
  /** Path in the GraphQL input, dotted, such as `items.3.chains.0.protein.modifications.1.position`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | null;
}

/** An input that cannot be used, with every reason at once. */
export interface InvalidInputShape extends ProblemBase<'InvalidInput'> {
  readonly issues: readonly IssueShape[];
}

/** A thing that was asked for by its id and does not exist. */
export type NotFoundShape = ProblemBase<'NotFound'>;

/** A refusal by the upstream: nothing was queued by it. */
export interface RefusedShape extends ProblemBase<'Refused'> {
  readonly reason: typeof RefusalReason.$inferType;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | null;
}

/** The interface over every problem: any record with a message and the name of its type. */
export type ProblemShape = ProblemBase<string>;

export const Problem = builder.interfaceRef<ProblemShape>('Problem').implement({
  description: 'Why something was not done.',
  resolveType: (problem) => problem.kind,
  fields: (t) => ({
    message: t.exposeString('message', {
      public: 'record',
      nullable: false,
      description: 'What is wrong, in one sentence.',
    }),
    hint: t.exposeString('hint', { public: 'record', description: 'What to do about it.' }),
    upstreamRequestId: t.exposeString('upstreamRequestId', {
      public: 'record',
      description: "The upstream's id of the refused request, to quote when reporting a problem to it.",
    }),
  }),
});

export const InputIssue = builder.objectRef<IssueShape>('InputIssue').implement({
  description:
    '`path` is the path in the GraphQL input, such as items.3.chains.0.protein.modifications.1.position.',
  fields: (t) => ({
    path: t.exposeString('path', {
      public: 'record',
      nullable: false,
      description: 'Where in the input, dotted; list positions are 0-based.',
    }),
    code: t.exposeString('code', {
      public: 'record',
      nullable: false,
      description: 'A stable word for programs, such as POSITION_OUT_OF_RANGE.',
    }),
    message: t.exposeString('message', {
      public: 'record',
      nullable: false,
      description: 'What is wrong, in one sentence.',
    }),
    hint: t.exposeString('hint', { public: 'record', description: 'What would be right.' }),
  }),
});

export const InvalidInput = builder.objectRef<InvalidInputShape>('InvalidInput').implement({
  description: 'The input cannot be used; nothing was queued.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.expose('issues', {
      public: 'record',
      type: [InputIssue],
      nullable: { list: false, items: false },
      description: 'Everything that is wrong with it, at once.',
    }),
  }),
});

export const NotFound = builder.objectRef<NotFoundShape>('NotFound').implement({
  description: 'There is no such thing, here or upstream.',
  interfaces: [Problem],
});

const RefusalReason = builder.enumType('RefusalReason', {
  description: 'Why the upstream refused.',
  values: {
    RATE_LIMIT: { description: 'Too many requests; wait and send the same again.' },
    CREDITS: { description: 'The credits of this key are used up.' },
    RATE_LIMIT_OR_CREDITS: { description: 'One of the two; the upstream did not say which.' },
    MODEL_UNAVAILABLE: { description: 'The model is not offered to this key at present.' },
    UNAUTHENTICATED: { description: 'No bearer token was given, or not a valid one.' },
    FORBIDDEN: { description: 'The key may not use this model, or a safety filter refused a sequence.' },
    UNREACHABLE: { description: 'No connection could be made; nothing was sent.' },
    INVALID_REQUEST: { description: 'The upstream found the input wrong; `message` says in which way.' },
  } as const,
});

export const Refused = builder.objectRef<RefusedShape>('Refused').implement({
  description: 'The upstream refused, and nothing was queued or charged.',
  interfaces: [Problem],
  fields: (t) => ({
    reason: t.expose('reason', {
      type: RefusalReason,
      nullable: false,
      description: 'What kind of refusal it was.',
    }),
    retryable: t.exposeBoolean('retryable', {
      nullable: false,
      description: 'Whether the same input may be accepted later without any change.',
    }),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'Seconds to wait before trying again, where the upstream said so.',
    }),
  }),
});
