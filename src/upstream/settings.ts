// Where the service is, by the configuration, and what its answers have shown: whether the prefixes
// of the two APIs are right, and whether it is a sandbox.
import type { Config } from '../config.ts';
import type { StreamedResponse, UpstreamSettings } from './http/upstream-client.ts';

/** What the configuration says of an upstream. @param baseUrl - without a final slash */
export const settingsOf = (config: Config, baseUrl: string): UpstreamSettings => ({
  baseUrl,
  batchPrefix: config.UPSTREAM_BATCH_PREFIX,
  atlasPrefix: config.UPSTREAM_ATLAS_PREFIX,
  listLimitField: config.UPSTREAM_LIST_LIMIT_FIELD,
  listCursorField: config.UPSTREAM_LIST_CURSOR_FIELD,
  downloadHosts: config.DOWNLOAD_HOSTS,
  patience: config.UPSTREAM_PATIENCE,
  mapping: config.wireMapping,
  thumbnailTypes: {
    plddt: config.UPSTREAM_THUMBNAIL_PLDDT,
    'pct-characterized': config.UPSTREAM_THUMBNAIL_PCT_CHARACTERIZED,
  },
});

export type Api = 'atlas' | 'batch';

/**
 * What is known of a prefix: `proven` by an answer that only the API gives, `wrong` by nothing but a
 * 404 of a server that has no such route; `answered` where something else came, such as a refusal.
 */
type PrefixState = 'unknown' | 'answered' | 'wrong' | 'proven';

interface UpstreamState extends Record<Api, PrefixState> {
  /** Whether it marks its answers as those of a sandbox; undefined before its first answer. */
  isSandbox: boolean | undefined;
}

const states = new WeakMap<object, UpstreamState>();

/** By the settings of an upstream, of which a process has one for each. */
export function prefixStates(settings: object): UpstreamState {
  const known = states.get(settings);
  if (known !== undefined) return known;
  const made: UpstreamState = { atlas: 'unknown', batch: 'unknown', isSandbox: undefined };
  states.set(settings, made);
  return made;
}

/** Statuses that only the API gives for its input; a proxy gives others for any path. */
const OF_THE_API = new Set([400, 409, 410, 422]);

/** Notes whether an answer has the header of the sandbox. A proxy's error says nothing of it. */
export function noteSandbox(
  settings: object,
  { status, headers }: Pick<StreamedResponse, 'status' | 'headers'>,
): void {
  const states = prefixStates(settings);
  if (headers['x-sandbox'] === '1') states.isSandbox = true;
  else if (states.isSandbox === undefined && status < 500) states.isSandbox = false;
}

export function noteAnswer(
  settings: object,
  api: Api,
  { status, headers }: Pick<StreamedResponse, 'status' | 'headers'>,
): void {
  noteSandbox(settings, { status, headers });
  const known = prefixStates(settings);
  if (status === 404 || known[api] === 'proven') return;
  const isPage = String(headers['content-type'] ?? '').includes('html');
  if (!isPage && ((status >= 200 && status < 300) || OF_THE_API.has(status))) known[api] = 'proven';
  else if (known[api] === 'unknown') known[api] = 'answered';
}
