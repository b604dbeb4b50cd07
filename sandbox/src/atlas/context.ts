// The parts that every Atlas route uses.
import type { Clock } from '../clock.ts';
import type { Database } from '../database.ts';
import type { Routes } from '../routes.ts';
import type { Signer } from '../signing.ts';
import type { ConventionName } from '../wire/conventions.ts';
import type { WireSettings } from '../wire/settings.ts';
import type { FoldingState } from './folding-state.ts';
import type { Structures } from './structures.ts';
import type { Universe } from './universe-reader.ts';

/** The parts from which the Atlas is built. */
export interface AtlasDependencies {
  readonly universe: Universe;
  /** State: bulk jobs with their archives, proteins folded on demand. */
  readonly database: Database;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly routes: Routes;
  readonly wire: WireSettings;
  /** The conventions of the dialect. */
  readonly conventions: ReadonlySet<ConventionName>;
}

/** The same with what is made once for all routes. */
export interface AtlasContext extends AtlasDependencies {
  readonly structures: Structures;
  readonly folding: FoldingState;
}
