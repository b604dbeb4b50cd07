// The UniProt look-ups of one request, cached for all: one call for each identifier, with limited
// concurrency.

import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import * as atlas from '../atlas.ts';
import type { WithRaw } from '../atlas-request.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import { isSequenceOf } from '../proteins/protein-checks.ts';
import type { UniprotRecord } from '../wire.ts';
import { type CachedReads, cachedRead } from './cached-read.ts';

/** An entry and the JSON it came as. */
export type LoadedEntry = WithRaw<UniprotRecord>;

export interface UniprotLoader {
  /** The entry of an accession or entry name; null when there is none. */
  load(id: string): Promise<LoadedEntry | null>;
}

const IN_FLIGHT = 8;

/** @throws UpstreamError UPSTREAM_DRIFT for an entry whose hash is not that of its sequence */
function checkedEntry(entry: LoadedEntry | null): LoadedEntry | null {
  const { protein_hash: hash, sequence } = entry?.record ?? {};
  if (hash != null && sequence != null && !isSequenceOf(hash, sequence))
    throw drifted('uniprot', '$.protein_hash', 'expected the MD5 of the sequence, seen another');
  return entry;
}

/** The loader of one request. */
export function createUniprotLoader(up: Upstream, reads: CachedReads<LoadedEntry>): UniprotLoader {
  const limited = pLimit(IN_FLIGHT);
  return new DataLoader<string, LoadedEntry | null>((ids) =>
    Promise.all(
      ids.map((id) =>
        cachedRead(reads, up, id, (shared) =>
          limited(async () => checkedEntry(await atlas.uniprot(shared, id))),
        ).catch(asError),
      ),
    ),
  );
}
