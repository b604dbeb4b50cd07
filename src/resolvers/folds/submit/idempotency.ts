// Submits at most once for an idempotency key: the first request sends, all others get its result.
import { randomUUID } from 'node:crypto';
import type { GatewayContext } from '../../../context.ts';
import { notSent } from '../../../schema/problem.ts';
import { KEY_LEASE_MS, type KeyEntry } from '../../../store/ledger/ledger.ts';
import { WrongSecretError } from '../../../store/ledger/mark.ts';
import { LostLedgerError } from '../../../store/unusable-store.ts';
import { type SubmitFoldResultShape, submittedBefore, unknownOutcome } from './submit-result.ts';

const RENEW_MS = KEY_LEASE_MS / 3;
/** How long a request waits for another one with the same key. */
const WAIT_MS = 30_000;

/** The hint while an earlier request may still succeed. */
const SEND_AGAIN =
  'Send exactly the same again in a minute: you get the batch as soon as the earlier request has ended. ' +
  'With another idempotencyKey you may pay twice.';

const toConflict = (entry: KeyEntry): SubmitFoldResultShape => ({
  kind: 'IdempotencyConflict',
  message: 'This idempotency key was used before, for another input. Nothing was sent.',
  hint: 'Use a new key for a new input; the same key gives back the batch of the same input only.',
  batchId: entry.state === 'submitted' ? entry.batchId : null,
});

/** The result when the store cannot write down what must be known before sending. */
const notWritten = (failure: string, remedy: string): SubmitFoldResultShape =>
  notSent(`${failure} Nothing was sent.`, `${remedy} The store of the gateway needs attention.`);

/** The result when the key may have been used, and the ledger cannot say. */
const LOST_LEDGER: SubmitFoldResultShape = {
  ...notSent(
    'The ledger of the gateway has lost what was submitted before: the same may have been paid already. ' +
      'Nothing was sent.',
    'Look whether your batch is there (myBatches, or List of the service), and tell the operator, who has to ' +
      'restore or accept the ledger. If it is not there, send the same again after that, with the same key.',
  ),
  retryable: false,
};

/** The result when the gateway lacks a secret of its ledger: another replica may have it. */
const OTHER_SECRET: SubmitFoldResultShape = notSent(
  'This gateway lacks a secret that its ledger is written with, so it cannot say whether the same was paid ' +
    'already. Nothing was sent.',
  'Send the same again later, with the same key. Tell the operator, who has to restart this gateway with the ' +
    'secret of the others.',
);

/** The result when the ledger gives no key away. @param otherwise - when it only does not answer */
function refuse(
  { services, requestId }: GatewayContext,
  error: unknown,
  otherwise: SubmitFoldResultShape,
): SubmitFoldResultShape {
  services.storeFailed('ledger', error, requestId);
  if (error instanceof LostLedgerError) return LOST_LEDGER;
  return error instanceof WrongSecretError ? OTHER_SECRET : otherwise;
}

/**
 * Checks that a batch can be recorded when only the ledger knows its owner, by writing: a full
 * store still answers.
 *
 * @returns null when it can, or when that is not needed
 */
export async function checkLedger(ctx: GatewayContext): Promise<SubmitFoldResultShape | null> {
  const { ledger, principal, keyIsShared } = ctx.submissions;
  if (!keyIsShared) return null;
  const key = `check ${randomUUID()}`;
  try {
    await ledger.claim(principal, key, '');
    await ledger.release(principal, key);
    return null;
  } catch (error) {
    const failure = 'The gateway could not write down whose batch this would be.';
    return refuse(ctx, error, notWritten(failure, 'Send the same again in a moment.'));
  }
}

/** Does the work for a claimed key, and says meanwhile that this process still lives. */
export async function withClaim<T>(
  { services: { clock }, submissions: { ledger, principal } }: GatewayContext,
  key: string | null,
  work: () => Promise<T>,
): Promise<T> {
  if (key === null) return work();
  // A store that is away may find the key abandoned; it is spent all the same.
  const renew = () => void ledger.renew(principal, key).catch(() => undefined);
  const stopRenewing = clock.every(RENEW_MS, renew);
  try {
    return await work();
  } finally {
    stopRenewing();
  }
}

/** The result stored under a key; null when the same input is still being sent. */
function toResult(
  ctx: GatewayContext,
  key: string,
  requestHash: string,
  entry: KeyEntry,
): SubmitFoldResultShape | null {
  if (entry.requestHash !== requestHash) return toConflict(entry);
  if (entry.state === 'submitted') return submittedBefore(ctx, entry.batchId);
  if (entry.state === 'unknown') {
    const message =
      'An earlier request with this idempotency key ended without an answer. Nothing was sent now.';
    return unknownOutcome(message, key, entry.upstreamRequestId);
  }
  if (!entry.isAbandoned) return null;
  return unknownOutcome(
    'The gateway that sent an earlier request with this idempotency key has ended before it knew the outcome. ' +
      'Nothing was sent now.',
    key,
    null,
  );
}

/**
 * Claims a key, or returns its result. Waits while another request sends the same input with it.
 *
 * @returns null when the key is claimed
 */
export async function claimIdempotencyKey(
  ctx: GatewayContext,
  key: string,
  requestHash: string,
): Promise<SubmitFoldResultShape | null> {
  const { ledger, principal, formerNames } = ctx.submissions;
  const { signal } = ctx.upstream;
  const { clock } = ctx.services;
  const deadline = clock.monotonic() + WAIT_MS;
  for (let pause = 20; ; pause = Math.min(500, pause * 2)) {
    let entry: KeyEntry | null;
    try {
      entry = await ledger.claim(principal, key, requestHash, formerNames);
    } catch (error) {
      // A retry with a key that is not written down could pay twice.
      const failure = 'The gateway could not write the idempotency key down.';
      return refuse(ctx, error, notWritten(failure, 'Send the same again in a moment, with the same key.'));
    }
    if (entry === null) return null;
    const result = toResult(ctx, key, requestHash, entry);
    if (result !== null) return result;
    if (clock.monotonic() >= deadline || signal?.aborted === true) {
      const message = 'An earlier request with this idempotency key has not ended yet. Nothing was sent now.';
      return unknownOutcome(message, key, null, SEND_AGAIN);
    }
    await clock.sleep(pause, { signal }).catch(() => undefined);
  }
}
