// This request's UniProt look-ups: one call for each identifier, with a limit in flight.
import DataLoader from 'dataloader';
import * as atlas from './atlas.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import type { UniprotRecord } from './wire.ts';

type Found = atlas.WithRaw<UniprotRecord> | null;

export interface UniprotLoader {
  /** The entry of an accession or entry name; null when there is none. */
  load(id: string): Promise<Found>;
}

const IN_FLIGHT = 8;

/** The loader of one request. */
export function createUniprotLoader(up: Upstream): UniprotLoader {
  const limited = limiter(IN_FLIGHT);
  return new DataLoader<string, Found>((ids) =>
    Promise.all(
      ids.map((id) =>
        limited(() => atlas.uniprot(up, id)).catch((error: unknown) =>
          error instanceof Error ? error : new Error(String(error)),
        ),
      ),
    ),
  );
}
