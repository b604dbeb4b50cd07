// Addresses of files as the service gives them: which are none, and which hosts are trusted. An
// address is a secret: no message contains more of it than its scheme.
import { isIP } from 'node:net';
import { UpstreamError, unknownHost } from '../errors.ts';
import type { UpstreamSettings } from '../settings.ts';
import { isPublicAddress } from './public-address.ts';

/** A scheme; a name before a port is none. */
const SCHEME = /^([a-z][a-z0-9+.-]*):(?!\d{1,5}(?:[/?#]|$))/i;
const MAX_SCHEME_CHARACTERS = 20;

const noAddress = (seen: string): UpstreamError =>
  new UpstreamError(
    `The upstream gave a download address that is none: expected https, seen ${seen}. Report it to the ` +
      'service: what was computed is not lost, and its address can be asked for again.',
    { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false },
  );

/**
 * Whether a file may be downloaded from its host, whatever its address is; else only over https
 * and from a public address.
 */
export function isTrustedHost(settings: UpstreamSettings, url: URL): boolean {
  const { base, downloadHosts } = settings;
  const isService = url.host === base.host && url.protocol === base.protocol;
  return isService || [url.host, url.hostname].some((host) => downloadHosts.includes(host));
}

/** Whether a name without a scheme is that of a host, and not the beginning of a path. */
const isHost = (settings: UpstreamSettings, url: URL): boolean =>
  /[^.][.:][^.]/.test(url.host) || url.host === settings.base.host || isTrustedHost(settings, url);

/**
 * Reads the address of a file. Without a scheme it means https; a path alone, the upstream's host.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for anything else, such as `file:`
 */
export function readFileAddress(settings: UpstreamSettings, text: string): URL {
  if (/^\/(?!\/)/.test(text)) return new URL(text, settings.base);
  const [, scheme] = SCHEME.exec(text) ?? [];
  if (scheme !== undefined && !/^https?$/i.test(scheme))
    throw noAddress(`${scheme.slice(0, MAX_SCHEME_CHARACTERS)}:`);
  const url = scheme === undefined ? `https://${text.replace(/^\/\//, '')}` : text;
  if (!URL.canParse(url)) throw noAddress('no address');
  const parsed = new URL(url);
  if (scheme === undefined && !isHost(settings, parsed)) throw noAddress('a relative path');
  return parsed;
}

/** @throws UpstreamError UPSTREAM_DRIFT for a host that the gateway does not trust */
export function checkFileHost(settings: UpstreamSettings, url: URL): void {
  if (isTrustedHost(settings, url)) return;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || (isIP(literal) !== 0 && !isPublicAddress(literal))) throw unknownHost();
}
