// The options of the sandbox that stands in for the service where UPSTREAM_URL is not set.

import type { ThreadOptions } from '../../sandbox/src/sandbox.ts';
import type { Config } from '../config.ts';

/**
 * The sandbox's options from the configuration, with the gateway's prefixes, models and field
 * names.
 */
export const sandboxOptionsOf = (config: Config) =>
  ({
    dataDir: config.SANDBOX_DATA,
    seed: config.SANDBOX_SEED,
    size: config.SANDBOX_SIZE,
    dialect: config.SANDBOX_DIALECT,
    speed: config.SANDBOX_SPEED,
    resultForm: { rows: config.SANDBOX_PAE_ROWS, entities: config.SANDBOX_ENTITY_FORM },
    wire: {
      batchPrefix: config.UPSTREAM_BATCH_PREFIX,
      atlasPrefix: config.UPSTREAM_ATLAS_PREFIX,
      listLimitField: config.UPSTREAM_LIST_LIMIT_FIELD,
      listCursorField: config.UPSTREAM_LIST_CURSOR_FIELD,
      models: config.FOLD_MODELS,
    },
    ...(config.SANDBOX_FASTA === undefined ? {} : { fasta: config.SANDBOX_FASTA }),
  }) satisfies ThreadOptions;
