// Whether the service is reachable, for readiness checks. Needs no key.
import { type Dispatcher, request } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from './user-agent.ts';

/** Statuses of a proxy without a backend. */
const NO_BACKEND = new Set([502, 503, 504]);

/**
 * Requests the bare address; any answer shows that the service is there.
 *
 * @param milliseconds - time limit
 * @throws Error that says why it cannot be reached, without an address
 */
export async function ping(agent: Dispatcher, baseUrl: string, milliseconds: number): Promise<void> {
  const { signal, end } = startDeadline(undefined, milliseconds);
  let status: number;
  try {
    const answer = await request(baseUrl, {
      dispatcher: agent,
      method: 'HEAD',
      headers: { 'user-agent': USER_AGENT },
      signal,
    });
    await answer.body.dump();
    status = answer.statusCode;
  } catch (error) {
    if (signal.aborted) throw new Error(`did not answer within ${milliseconds} ms`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`cannot be reached (${code})`);
  } finally {
    end();
  }
  if (NO_BACKEND.has(status)) throw new Error(`answers HTTP ${status}`);
}
