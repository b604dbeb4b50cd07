// Where the service is, by the configuration, and whether its answers have shown that it is a
// sandbox.
import type { Config } from '../config.ts';

/** The address of the service, and the names that its deployment uses (configuration). */
export interface UpstreamSettings {
  /** The address of the service. */
  readonly base: URL;
  readonly batchPrefix: string;
  readonly atlasPrefix: string;
  readonly listLimitField: string;
  readonly listCursorField: string;
  readonly downloadHosts: readonly string[];
  /** Types of thumbnails where the deployment calls them otherwise, by ours. */
  readonly thumbnailTypes?: Readonly<Record<string, string>> | undefined;
  /** Factor of every operation's time limits; 1 when absent. */
  readonly patience?: number;
}

/** The settings of an upstream. @param baseUrl - without a final slash */
export const toUpstreamSettings = (config: Config, baseUrl: string): UpstreamSettings => ({
  base: new URL(baseUrl),
  batchPrefix: config.UPSTREAM_BATCH_PREFIX,
  atlasPrefix: config.UPSTREAM_ATLAS_PREFIX,
  listLimitField: config.UPSTREAM_LIST_FIELDS[0],
  listCursorField: config.UPSTREAM_LIST_FIELDS[1],
  downloadHosts: config.DOWNLOAD_HOSTS,
  patience: config.UPSTREAM_TIMEOUT_FACTOR,
  thumbnailTypes: {
    plddt: config.UPSTREAM_THUMBNAILS[0],
    'pct-characterized': config.UPSTREAM_THUMBNAILS[1],
  },
});

/** The address of a service without credentials. */
export function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

export type Api = 'atlas' | 'batch';

const sandboxes = new WeakMap<UpstreamSettings, boolean>();

/** Whether the upstream marks its answers as those of a sandbox; undefined before the first one. */
export const isSandbox = (settings: UpstreamSettings): boolean | undefined => sandboxes.get(settings);

export const setSandbox = (settings: UpstreamSettings): void => void sandboxes.set(settings, true);

/** Reads the header of the sandbox in an answer. A proxy's error says nothing of it. */
export function detectSandbox(
  settings: UpstreamSettings,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, unknown>> },
): void {
  if (headers['x-sandbox'] === '1') sandboxes.set(settings, true);
  else if (!sandboxes.has(settings) && status < 500) sandboxes.set(settings, false);
}
