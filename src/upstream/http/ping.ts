// Whether the service is reachable, for readiness checks. Needs no key.
import { type Dispatcher, request } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from '../../package.ts';
import type { StreamedResponse } from './upstream-client.ts';

/** Statuses of a proxy without a backend. */
const NO_BACKEND = new Set([502, 503, 504]);

class NoBackend extends Error {}

/**
 * Requests the bare address; any answer shows that the service is there.
 *
 * @param milliseconds - time limit
 * @returns status and headers of the answer
 * @throws Error that says why it cannot be reached, without an address
 */
export async function ping(
  agent: Dispatcher,
  baseUrl: string,
  milliseconds: number,
): Promise<Pick<StreamedResponse, 'status' | 'headers'>> {
  const { signal, end } = startDeadline(undefined, milliseconds);
  try {
    const answer = await request(baseUrl, {
      dispatcher: agent,
      method: 'HEAD',
      headers: { 'user-agent': USER_AGENT },
      signal,
    });
    await answer.body.dump();
    if (NO_BACKEND.has(answer.statusCode)) throw new NoBackend(`answers HTTP ${answer.statusCode}`);
    return { status: answer.statusCode, headers: answer.headers };
  } catch (error) {
    if (error instanceof NoBackend) throw error;
    if (signal.aborted) throw new Error(`did not answer within ${milliseconds} ms`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`cannot be reached (${code})`);
  } finally {
    end();
  }
}
