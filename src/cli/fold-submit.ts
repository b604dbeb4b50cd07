// Sends a submission and reads the outcome: the batch, or the errors.
import type { FoldInput } from './fold-input.ts';
import { type Answer, errorLines, type GatewayTarget } from './gateway-client.ts';
import { CliExit, EXIT, type Session } from './session.ts';

const RESULT = `
    __typename
    ... on FoldSubmitted { replayed message warnings { path message } batch { batchId } }
    ... on Problem { problem: message hint }
    ... on InvalidInput { issues { path message hint } }
    ... on Refused { reason retryAfterSeconds }
    ... on IdempotencyConflict { existingBatch { batchId } }`;
const SUBMIT = `mutation Submit($input: SubmitFoldInput!) { result: submitFold(input: $input) {${RESULT} } }`;
const RESUBMIT = `mutation Resubmit($batchId: ID!, $input: SubmitFoldInput!) {
  result: resubmitFold(batchId: $batchId, input: $input) {${RESULT} }
}`;

interface Issue {
  readonly path: string;
  readonly message: string;
  readonly hint?: string | null;
}

interface Ended {
  readonly __typename: string;
  readonly replayed?: boolean;
  readonly warnings?: readonly Issue[];
  readonly batch?: { readonly batchId: string } | null;
  readonly existingBatch?: { readonly batchId: string } | null;
  readonly problem?: string;
  readonly hint?: string | null;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number | null;
}

/** Sends an input; of a resubmission the gateway derives the key, from the tasks that it submits again. */
function send(place: GatewayTarget, input: FoldInput, resubmit: string | undefined): Promise<Answer> {
  if (resubmit === undefined) return place.ask(SUBMIT, { input });
  const { idempotencyKey: _, ...content } = input;
  return place.ask(RESUBMIT, { batchId: resubmit, input: content });
}

/**
 * Submits.
 *
 * @param resubmit - the batch whose failed and cancelled tasks are submitted again
 * @returns the batch's id
 * @throws CliExit that tells every mistake
 */
export async function submitFold(
  place: GatewayTarget,
  session: Session,
  input: FoldInput,
  resubmit?: string,
): Promise<string> {
  const answer = await send(place, input, resubmit);
  const { result: ended } = (answer.data ?? {}) as { result?: Ended | null };
  if (ended === undefined || ended === null) {
    const lines = errorLines(answer);
    const mistake = answer.errors?.some(({ extensions }) => extensions?.code === 'BAD_USER_INPUT') === true;
    throw new CliExit(mistake ? EXIT.data : EXIT.unreachable, lines.join('\n'));
  }
  if (ended.__typename === 'FoldSubmitted' && ended.batch != null) {
    for (const { path, message } of ended.warnings ?? []) session.say(`warning: ${path}: ${message}`);
    if (ended.replayed === true) {
      const more = resubmit === undefined ? ' (--again makes another one)' : '';
      session.say(`Submitted before: the same batch, nothing is paid again${more}.`);
    }
    return ended.batch.batchId;
  }
  const { __typename: kind, problem = '', issues = [], hint, retryAfterSeconds: wait, existingBatch } = ended;
  const lines = [
    `${kind}: ${problem}`,
    ...issues.map((one) => `  ${one.path}: ${one.message} ${one.hint ?? ''}`.trimEnd()),
    hint,
    wait == null ? null : `Try again in ${wait} seconds.`,
    existingBatch == null ? null : `The earlier batch is ${existingBatch.batchId}.`,
  ].filter((line) => line != null);
  throw new CliExit(kind === 'InvalidInput' ? EXIT.data : EXIT.unreachable, lines.join('\n'));
}
