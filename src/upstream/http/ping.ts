// Whether the service can be reached at all, for who decides where to send traffic. It asks for nothing and needs no key.
import { type Dispatcher, request } from 'undici';
import { startDeadline } from '../../async/deadline.ts';
import { USER_AGENT } from './user-agent.ts';

/** What a proxy answers when there is nobody behind it. */
const NOBODY = new Set([502, 503, 504]);

/**
 * Asks for the bare address; whatever the service says to that, it is there.
 *
 * @param milliseconds - how long it may take
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
  if (NOBODY.has(status)) throw new Error(`answers HTTP ${status}`);
}
