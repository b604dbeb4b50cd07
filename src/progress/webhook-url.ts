// Which addresses webhooks may go to: hosts of WEBHOOK_HOSTS, over https, at public addresses.
import { isIP } from 'node:net';
import { isLoopback } from '../config/loopback.ts';
import { isPublicAddress } from '../upstream/http/public-address.ts';

const MAX_URL_LENGTH = 2048;

/**
 * Finds the fault of a webhook's address; null when there is none. The addresses behind the name of
 * its host are checked while connecting.
 *
 * @param hosts - WEBHOOK_HOSTS; hosts of this machine are among them only over the embedded sandbox
 * @returns the rest of a sentence, such as "does not begin with https://"
 */
export function findUrlFault(text: string, hosts: readonly string[]): string | null {
  if (text.length > MAX_URL_LENGTH) return `has more than ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return 'is no URL';
  const { protocol, host, hostname, username, password } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'does not begin with https://';
  if (username !== '' || password !== '') return 'has a user or a password';
  // A host alone is its port 443; of this machine, where a receiver is tried, any port.
  const isListed = hosts.includes(host) || (isLoopback(hostname) && hosts.includes(hostname));
  if (!isListed) return 'has a host or port that this gateway does not call';
  if (isLoopback(hostname)) return null;
  if (protocol !== 'https:') return 'does not begin with https://';
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) !== 0 && !isPublicAddress(literal) ? 'is not a public address' : null;
}
