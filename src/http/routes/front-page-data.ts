// Data of the front page: the state of upstream and store, and some proteins. Fetched once for
// concurrent visitors, with a timeout.

import { startDeadline, withTimeout } from '../../async/deadline.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import { THUMBNAIL_TYPES, type Thumbnails, type UniprotLoader } from '../../upstream/reads/cached-reads.ts';
import type { Readiness } from './health.ts';

/** A protein as the front page shows it. */
export interface ShownProtein {
  readonly accession: string;
  readonly name: string;
  readonly organism: string | null;
  /** Residues. */
  readonly length: number | null;
  readonly hash: string;
}

export interface FrontFacts {
  /** Whether the upstream answers; undefined while unknown. */
  readonly upstream: boolean | undefined;
  readonly store: boolean | undefined;
  /** Proteins to look at; empty when the Atlas has none of them, or is away. */
  readonly proteins: readonly ShownProtein[];
}

export interface FactSources {
  /** The upstream without a caller's token, with this signal as its deadline. */
  open(signal: AbortSignal): { readonly upstream: Upstream; readonly uniprot: UniprotLoader };
  readonly thumbnails: Thumbnails;
  readonly readiness: () => Promise<Readiness>;
  /** Whether visitors may have pictures without a key. */
  readonly picturesOpen: boolean;
}

/**
 * Well-known proteins of UniProt: hormone, oxygen carriers, signalling, light, immunity, chromatin,
 * replication.
 */
const ACCESSIONS = ['P01308', 'P69905', 'P02144', 'P0DP23', 'P42212', 'P00698', 'P12004', 'Q9NZQ7'];

const FRESH_MS = 3_600_000;
const AGAIN_MS = 10_000;
/** A page waits no longer than this; the result is shown on later pages. */
const PATIENCE_MS = 2_500;
const TIMEOUT_MS = 10_000;

/** The result within the time limit, else the fallback. */
const within = <T>(coming: Promise<T>, instead: T): Promise<T> =>
  withTimeout(coming, PATIENCE_MS, () => instead);

/** One protein that the Atlas may have a picture of, or nothing. */
async function show(uniprot: UniprotLoader, id: string): Promise<ShownProtein[]> {
  const entry = (await uniprot.load(id))?.record;
  const hash = entry?.protein_hash;
  if (hash == null || !/^[0-9a-f]{32}$/.test(hash)) return [];
  const { protein_name: name, organism = null, sequence_length: length = null } = entry ?? {};
  return [{ accession: id, name: name ?? id, organism, length, hash }];
}

/** The proteins, asked for again after an hour, or soon when some could not be had. */
function openProteins(sources: FactSources): () => Promise<readonly ShownProtein[]> {
  let known: readonly ShownProtein[] = [];
  let until = 0;
  let asking: Promise<readonly ShownProtein[]> | undefined;

  // Thumbnails may take longer to render than a page should wait; proteins without one are left out
  // later.
  const keepPictured = async (shown: readonly ShownProtein[]): Promise<void> => {
    for (const protein of shown) {
      const { upstream } = sources.open(startDeadline(undefined, TIMEOUT_MS).signal);
      const picture = await sources.thumbnails
        .get(upstream, protein.hash, THUMBNAIL_TYPES.PLDDT)
        .catch(() => undefined);
      if (picture === null) known = known.filter((other) => other !== protein);
    }
  };
  const ask = async (): Promise<readonly ShownProtein[]> => {
    const { uniprot } = sources.open(startDeadline(undefined, TIMEOUT_MS).signal);
    const found = await Promise.allSettled(ACCESSIONS.map((id) => show(uniprot, id)));
    const failed = found.some(({ status }) => status === 'rejected');
    known = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    until = Date.now() + (failed ? AGAIN_MS : FRESH_MS);
    asking = undefined;
    void keepPictured(known);
    return known;
  };
  return async () => {
    if (!sources.picturesOpen) return [];
    if (Date.now() < until) return known;
    asking ??= ask();
    return within(asking, known);
  };
}

export function createFrontPageData(sources: FactSources): () => Promise<FrontFacts> {
  const proteins = openProteins(sources);
  return async () => {
    const [readiness, shown] = await Promise.all([within(sources.readiness(), undefined), proteins()]);
    const answers = (name: string) => readiness?.checks.find((check) => check.name === name)?.ok;
    return { upstream: answers('upstream'), store: answers('store'), proteins: shown };
  };
}
