// Maps the configuration to the settings of the upstream client.
import type { Config } from '../config.ts';
import type { UpstreamSettings } from './http/upstream-client.ts';

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
