// Identifies the caller: the bearer token, whether it is a key, what account it stands for, and the
// tokens with a fixed fate. Tokens are never stored; an owner is the token's SHA-256.
import { createHash } from 'node:crypto';
import { Refusal } from './refusal.ts';

/**
 * C: tokens that always meet one refusal, so that a client can see each of them without a control
 * route. They need no entry in the list of keys.
 */
const tokensWithFate = {
  /** 401 on every operation. */
  'sandbox-revoked': 'revoked',
  /** 403 on Submit: the model is not allowed for this key. */
  'sandbox-forbidden': 'forbidden',
  /** 422 on Submit: no supported model rate-limit configuration. */
  'sandbox-unconfigured': 'unconfigured',
  /** 429 on Submit: slow down. */
  'sandbox-rate-limited': 'rate-limited',
  /** 429 on Submit: credits gone. */
  'sandbox-no-credits': 'no-credits',
} as const;

type Fate = (typeof tokensWithFate)[keyof typeof tokensWithFate];

export interface Caller {
  /** Batches belong to it. */
  readonly owner: string;
  readonly fate: Fate | undefined;
}

const challenge = { headers: { 'www-authenticate': 'Bearer' } };

/**
 * Reads the Authorization header.
 *
 * @param keys the tokens that are keys; when absent every token is one
 * @throws Refusal 401
 */
export function toCaller(authorization: string | undefined, keys: ReadonlySet<string> | undefined): Caller {
  if (authorization === undefined)
    throw new Refusal(
      401,
      'Missing credentials; send the API key in the header "Authorization", after the word "Bearer".',
      challenge,
    );
  const token = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
  if (token === undefined)
    throw new Refusal(
      401,
      'Malformed credentials; send the API key in the header "Authorization", after the word "Bearer".',
      challenge,
    );
  const fate = Object.entries(tokensWithFate).find(([name]) => name === token)?.[1];
  if (fate === 'revoked' || (fate === undefined && keys !== undefined && !keys.has(token)))
    throw new Refusal(
      401,
      'Invalid API key; check it and send it in the header "Authorization", after the word "Bearer".',
      challenge,
    );
  return { owner: createHash('sha256').update(token).digest('hex'), fate };
}
