// Whether the service is reachable, and the prefixes of the two APIs are right. A 404 without the
// API's error body comes from a server without such a route: it proves nothing, and before the
// first answer from the prefix it means that the prefix is wrong.
import { type Dispatcher, request } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from '../../package.ts';
import { UpstreamError } from '../errors.ts';
import { type Api, prefixStates } from '../settings.ts';
import type { ServiceConnections } from './connections.ts';
import { discard, isWhole, upstreamErrorOf } from './response-body.ts';
import { type Call, requestStream, type StreamedResponse, type Upstream } from './upstream-client.ts';

/** Statuses of a proxy without a backend. */
const NO_BACKEND = new Set([502, 503, 504]);

/**
 * Requests the bare address; any answer shows that the service is there.
 *
 * @param milliseconds - time limit
 * @returns status and headers of the answer
 * @throws Error that says why it cannot be reached, without an address
 */
export async function ping(
  { pool }: ServiceConnections,
  baseUrl: string,
  milliseconds: number,
): Promise<Pick<StreamedResponse, 'status' | 'headers'>> {
  const { signal, end } = startDeadline(undefined, milliseconds);
  let answer: Dispatcher.ResponseData;
  try {
    const headers = { 'user-agent': USER_AGENT };
    answer = await request(baseUrl, { dispatcher: pool, method: 'HEAD', headers, signal });
    await answer.body.dump();
  } catch (error) {
    if (signal.aborted) throw new Error(`did not answer within ${milliseconds} ms`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`cannot be reached (${code})`);
  } finally {
    end();
  }
  const { statusCode: status, headers } = answer;
  if (NO_BACKEND.has(status)) throw new Error(`answers HTTP ${status}`);
  return { status, headers };
}

const SETTINGS = {
  atlas: 'UPSTREAM_ATLAS_PREFIX',
  batch: 'UPSTREAM_BATCH_PREFIX',
} as const satisfies Record<Api, string>;

const wrongPrefix = (api: Api): string =>
  `The service has nothing at the prefix of the ${api === 'atlas' ? 'Atlas' : 'Batch'} API: ` +
  'it answers 404 without an error of that API. The operator of the gateway has to mend the path of ' +
  `UPSTREAM_URL, or ${SETTINGS[api]}, which follows it; \`foldatlas doctor\` helps to find it.`;

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

/** Asks at a prefix; the answer is taken note of. */
async function probe(up: Upstream, api: Api): Promise<void> {
  const answer = await requestStream(up, PROBES[api]);
  if (answer.status !== 404) return discard(answer);
  const { form } = (await upstreamErrorOf(up, answer)).failure;
  const known = prefixStates(up.settings);
  if (form === 'own') known[api] = 'proven';
  else if (known[api] !== 'proven') known[api] = 'wrong';
}

/** Confirms that a 404 means absence. @throws UpstreamError UPSTREAM_DRIFT where it does not */
export async function confirmNotFound(up: Upstream, api: Api, error: UpstreamError): Promise<void> {
  const known = prefixStates(up.settings);
  const { operation, status, form } = error.failure;
  if (form === 'own') known[api] = 'proven';
  // The Batch API cannot be asked without a key, and without one it refuses at any path.
  else if (form === 'bare' && known[api] !== 'proven' && api === 'atlas') await probe(up, api);
  const isWrong = known[api] !== 'proven';
  if (form !== undefined && !isWrong) return;
  if (isWrong) known[api] = 'wrong';
  throw new UpstreamError(
    isWrong
      ? wrongPrefix(api)
      : `The upstream answered ${operation} with HTTP 404 and no error of its API, ` +
          'which does not say that there is no such thing.',
    { operation, code: 'UPSTREAM_DRIFT', status, retryable: !isWrong },
  );
}

/** Makes a call and reads its answer. Null when it says that there is no such thing. */
export async function foundOrNull<T>(
  up: Upstream,
  call: Call,
  read: (answer: StreamedResponse) => Promise<T>,
): Promise<T | null> {
  const answer = await requestStream(up, call);
  if (isWhole(answer.status)) return read(answer);
  const error = await upstreamErrorOf(up, answer);
  if (answer.status !== 404) throw error;
  await confirmNotFound(up, call.api, error);
  return null;
}

/** Probes prefixes without an answer yet. @throws Error that says what to set */
export async function checkPrefixes(up: Upstream): Promise<void> {
  const known = prefixStates(up.settings);
  for (const api of ['atlas', 'batch'] as const)
    if (known[api] === 'unknown' || known[api] === 'wrong') await probe(up, api);
  const wrong = (['atlas', 'batch'] as const).filter((api) => known[api] === 'wrong');
  if (wrong.length > 0) throw new Error(wrong.map(wrongPrefix).join(' '));
}
