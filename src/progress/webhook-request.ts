// Sends a webhook once, signed as https://www.standardwebhooks.com says.
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { type Clock, systemClock } from '../async/clock.ts';
import { startDeadline } from '../async/deadline.ts';
import { isLoopback } from '../config/loopback.ts';
import { USER_AGENT } from '../package.ts';
import { faultName, parseRetryAfter } from '../upstream/errors.ts';
import type { ServiceConnections } from '../upstream/http/connections.ts';
import { discard, headerValue } from '../upstream/http/response-body.ts';

export interface WebhookMessage {
  /** The same for every try, so that receivers can tell repetitions. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
}

export type WebhookOutcome =
  | { readonly kind: 'delivered' }
  /** `isFinal`: the receiver wants no more (410). */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly isFinal: boolean;
      readonly retryAfterSeconds?: number | undefined;
    };

/** One signature for each secret, so that a receiver needs only one of them. */
function sign(secrets: readonly string[], signed: string): string {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return signatures.join(' ');
}

export interface SendWebhookOptions {
  readonly connections: ServiceConnections;
  /** WEBHOOK_SECRET. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Sends a webhook to an address without fault. Redirects are not followed, and the body of the
 * answer is not read.
 *
 * @throws the reason of the signal when it aborts
 */
export async function sendWebhook(
  { id, url, body }: WebhookMessage,
  { connections, secrets, timeoutMs, signal, clock = systemClock }: SendWebhookOptions,
): Promise<WebhookOutcome> {
  const timestamp = Math.floor(clock.now() / 1000);
  const limit = startDeadline(signal, timeoutMs, clock);
  try {
    const answer = await request(url, {
      dispatcher: isLoopback(new URL(url).hostname) ? connections.unshared : connections.publicOnly,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': sign(secrets, `${id}.${timestamp}.${body}`),
      },
      body,
      signal: limit.signal,
    });
    discard(answer);
    const { statusCode: status, headers } = answer;
    if (status >= 200 && status < 300) return { kind: 'delivered' };
    const retryAfterSeconds = parseRetryAfter(headerValue(headers['retry-after']));
    return { kind: 'failed', reason: `HTTP ${status}`, isFinal: status === 410, retryAfterSeconds };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'failed', reason: faultName(error), isFinal: false };
  } finally {
    limit.end();
  }
}
