// Submits at most once for a key: who comes first sends, everybody else is told what became of it. It must not know
// what is sent.

import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayContext } from '../../context.ts';
import type { SubmitFoldResultShape } from '../../schema/submit.ts';
import type { KeyEntry } from '../../store/ledger/ledger.ts';
import { batchById } from './batch.ts';

/** A sending that has not ended after this time never will: Submit itself gives up earlier. */
const LEASE_MS = 180_000;
/** How long a caller waits for another one that sends under the same key. */
const PATIENCE_MS = 30_000;

const conflict = (entry: KeyEntry): SubmitFoldResultShape => ({
  kind: 'IdempotencyConflict',
  message: 'This idempotency key was used before, for another input. Nothing was sent.',
  hint: 'Use a new key for a new input; the same key gives back the batch of the same input only.',
  batchId: entry.state === 'submitted' ? entry.batchId : null,
});

/** The ending of a key that nobody knows the outcome of. */
export const unknownOutcome = (
  message: string,
  key: string | null,
  upstreamRequestId: string | null,
): SubmitFoldResultShape => ({
  kind: 'OutcomeUnknown',
  message,
  hint: 'Some items may be queued and charged, and the service cannot be asked. Send again (with another idempotencyKey) only if you accept that it may be paid twice.',
  upstreamRequestId,
  idempotencyKey: key,
});

/** The ending of a submission whose key could not be taken: without it, sending could be paid twice. */
const storeFailed = (): SubmitFoldResultShape => ({
  kind: 'Refused',
  message: 'The gateway could not write the idempotency key down. Nothing was sent.',
  hint: 'Send the same again in a moment, with the same key. The store of the gateway needs attention.',
  reason: 'UNREACHABLE',
  retryable: true,
});

/**
 * Makes sure, where only the ledger knows whose a batch is, that it can be written down.
 *
 * @returns null when it can, or need not be
 */
export async function checkLedger({
  submissions,
  services,
}: GatewayContext): Promise<SubmitFoldResultShape | null> {
  if (!submissions.keyIsShared) return null;
  try {
    await submissions.ledger.check();
    return null;
  } catch (error) {
    services.log.error({ error: String(error) }, 'ledger');
    return {
      kind: 'Refused',
      message: 'The gateway could not write down whose batch this would be. Nothing was sent.',
      hint: 'Send the same again in a moment. The store of the gateway needs attention.',
      reason: 'UNREACHABLE',
      retryable: true,
    };
  }
}

/** What stands under a key, as an ending; null when it stands for the same input and is still being sent. */
function resultOf(
  ctx: GatewayContext,
  key: string,
  requestHash: string,
  entry: KeyEntry,
): SubmitFoldResultShape | null {
  if (entry.requestHash !== requestHash) return conflict(entry);
  if (entry.state === 'submitted') {
    const batch = batchById(ctx, entry.batchId);
    return { kind: 'FoldSubmitted', batch, replayed: true, message: null, warnings: [] };
  }
  if (entry.state === 'unknown') {
    const message =
      'An earlier request with this idempotency key ended without an answer. Nothing was sent now.';
    return unknownOutcome(message, key, entry.upstreamRequestId);
  }
  if (Date.now() - entry.at < LEASE_MS) return null;
  return unknownOutcome(
    'An earlier request with this idempotency key was cut off. Nothing was sent now.',
    key,
    null,
  );
}

/**
 * Takes a key, or says what stands under it. Waits while another caller sends the same input under it.
 *
 * @returns null when the key is the caller's now
 */
export async function claimIdempotencyKey(
  ctx: GatewayContext,
  key: string,
  requestHash: string,
  patience = PATIENCE_MS,
): Promise<SubmitFoldResultShape | null> {
  const { ledger, principal } = ctx.submissions;
  const until = performance.now() + patience;
  for (let pause = 20; ; pause = Math.min(500, pause * 2)) {
    let entry: KeyEntry | null;
    try {
      entry = await ledger.claim(principal, key, requestHash);
    } catch (error) {
      ctx.services.storeFailed('ledger', error, ctx.requestId);
      return storeFailed();
    }
    if (entry === null) return null;
    const ending = resultOf(ctx, key, requestHash, entry);
    if (ending !== null) return ending;
    if (performance.now() >= until) {
      const message = 'An earlier request with this idempotency key has not ended yet. Nothing was sent now.';
      return unknownOutcome(message, key, null);
    }
    await sleep(pause, undefined, { signal: ctx.upstream.signal });
  }
}
