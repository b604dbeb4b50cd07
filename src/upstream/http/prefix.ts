// Checks the prefixes of the two APIs. A 404 without the API's error body comes from a server
// without such a route: it proves nothing, and before the first answer from the prefix it means
// that the prefix is wrong.

import { UpstreamError } from '../errors.ts';
import { type Api, type PrefixState, prefixStates } from './prefix-state.ts';
import { discard, upstreamErrorOf } from './response-body.ts';
import { type Call, requestStream, type Upstream } from './upstream-client.ts';

const SETTINGS = {
  atlas: 'UPSTREAM_ATLAS_PREFIX to the path of its Atlas API',
  batch: 'UPSTREAM_BATCH_PREFIX to the path of its Batch API',
} as const satisfies Record<Api, string>;

const wrongPrefix = (api: Api): string =>
  `The service has nothing at the prefix of the ${api === 'atlas' ? 'Atlas' : 'Batch'} API: ` +
  `it answers 404 without an error of that API. Set ${SETTINGS[api]}; \`foldatlas doctor\` helps to find it.`;

/** A free call that needs no key; a right prefix refuses it in its own words at worst. */
const PROBES: Readonly<Record<Api, Call>> = {
  atlas: { operation: 'feature', api: 'atlas', method: 'GET', path: '/features/0', repeatable: false },
  batch: {
    operation: 'list',
    api: 'batch',
    method: 'POST',
    path: '/list',
    body: { batch_id: 'none', include_responses: false },
    repeatable: false,
  },
};

const prove = (state: PrefixState): void => {
  Object.assign(state, { isProven: true, hasAnswered: true, isWrong: false });
};

/** Asks at a prefix; the answer is taken note of. */
async function probe(up: Upstream, api: Api, state: PrefixState): Promise<void> {
  const answer = await requestStream(up, PROBES[api]);
  if (answer.status !== 404) return discard(answer);
  const { form } = (await upstreamErrorOf(up, answer)).failure;
  if (form === 'own') prove(state);
  else state.isWrong = !state.isProven;
}

/** Confirms that a 404 means absence. @throws UpstreamError UPSTREAM_DRIFT where it does not */
export async function confirmNotFound(up: Upstream, api: Api, error: UpstreamError): Promise<void> {
  const state = prefixStates(up.settings)[api];
  const { operation, status, form } = error.failure;
  if (form === 'own') return prove(state);
  // The Batch API cannot be asked without a key, and without one it refuses at any path.
  if (form === 'bare' && !state.isProven && api === 'atlas') await probe(up, api, state);
  if (form === 'bare' && state.isProven) return;
  state.isWrong = !state.isProven;
  throw new UpstreamError(
    state.isWrong
      ? wrongPrefix(api)
      : `The upstream answered ${operation} with HTTP 404 and no error of its API, ` +
          'which does not say that there is no such thing.',
    { operation, code: 'UPSTREAM_DRIFT', status, retryable: !state.isWrong },
  );
}

/**
 * Probes prefixes without an answer yet.
 *
 * @throws Error that says which are wrong and what to set
 */
export async function checkPrefixes(up: Upstream): Promise<void> {
  const wrong: string[] = [];
  for (const api of ['atlas', 'batch'] as const) {
    const state = prefixStates(up.settings)[api];
    if (!state.hasAnswered || state.isWrong) await probe(up, api, state);
    if (state.isWrong) wrong.push(wrongPrefix(api));
  }
  if (wrong.length > 0) throw new Error(wrong.join(' '));
}
