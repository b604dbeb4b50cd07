// A DataLoader collects the protein requests of a tick and hands them to the planner as one round.
// A request settles with its own proteins, not at the end of the round.
import DataLoader from 'dataloader';
import { asError } from '../errors.ts';
import type { LoadWanted } from './protein-calls.ts';
import { type RequiredParts, unionParts } from './required-parts.ts';

/** Why proteins could not be had, by hash. */
export type Failures = ReadonlyMap<string, Error>;

/** Proteins requested together. */
class PendingRequest {
  readonly hashes: readonly string[];
  readonly needs: RequiredParts;
  /** Ends when all proteins are settled. */
  readonly promise: Promise<Failures | undefined>;
  /** What failed so far. */
  failures: Map<string, Error> | undefined;
  /** How many of the proteins are not settled yet. */
  left: number;
  /**
   * Whether links to clusters settle together, so that the calls for the clusters and their members
   * are planned together too.
   */
  readonly waitsForLinks: boolean;
  private end: (failures: Failures | undefined) => void = () => undefined;

  constructor(hashes: readonly string[], needs: RequiredParts) {
    this.hashes = hashes;
    this.needs = needs;
    this.left = hashes.length;
    this.waitsForLinks = needs.link === true;
    this.promise = new Promise((resolve) => {
      this.end = resolve;
    });
  }
  /** Takes note that one of the proteins is settled. */
  settle(hash: string, error: Error | undefined): void {
    if (error !== undefined) {
      this.failures ??= new Map();
      this.failures.set(hash, error);
    }
    this.left -= 1;
  }
  resolve(): void {
    this.end(this.failures);
  }
}

/** The requests of one tick. */
interface Round {
  readonly all: ReadonlySet<PendingRequest>;
  /** Those that wait for a link and still lack a protein. */
  readonly links: Set<PendingRequest>;
}

/** Answers a request whose proteins are all settled. */
function resolve({ all, links }: Round, one: PendingRequest): void {
  links.delete(one);
  if (!one.waitsForLinks) one.resolve();
  else if (links.size === 0) for (const other of all) if (other.waitsForLinks) other.resolve();
}

/** What a round needs of each of its proteins. */
function unionOf(round: readonly PendingRequest[]): Map<string, RequiredParts> {
  const wanted = new Map<string, RequiredParts>();
  for (const { hashes, needs } of round) {
    for (const hash of hashes) {
      const others = wanted.get(hash);
      wanted.set(hash, others === undefined ? needs : unionParts([others, needs]));
    }
  }
  return wanted;
}

/**
 * Creates the collector of one request.
 *
 * @param loadWanted - plans and makes the calls of a round
 */
export function createProteinCollector(loadWanted: LoadWanted) {
  const pending = new Map<string, readonly PendingRequest[]>();

  /** Settles a protein for the requests of a round, once. */
  const settle = (round: Round, hash: string, error?: Error): void => {
    const queue = pending.get(hash) ?? [];
    const others = queue.filter((one) => !round.all.has(one));
    if (others.length === queue.length) return;
    if (others.length === 0) pending.delete(hash);
    else pending.set(hash, others);
    for (const one of queue) {
      if (!round.all.has(one)) continue;
      one.settle(hash, error);
      if (one.left === 0) resolve(round, one);
    }
  };

  const loadRound = async (requests: readonly PendingRequest[]): Promise<void> => {
    const round = { all: new Set(requests), links: new Set(requests.filter((one) => one.waitsForLinks)) };
    const wanted = unionOf(requests);
    try {
      const failed = await loadWanted(wanted, (hash) => settle(round, hash));
      for (const hash of wanted.keys()) settle(round, hash, failed.get(hash));
    } catch (error) {
      for (const hash of wanted.keys()) settle(round, hash, asError(error));
    }
  };

  // It only collects: each request ends by its own promise.
  const loader = new DataLoader<PendingRequest, undefined>(
    async (requests) => {
      void loadRound(requests);
      return requests.map(() => undefined);
    },
    { cache: false, batchScheduleFn: setImmediate },
  );

  return {
    /** Requests proteins. */
    request(hashes: readonly string[], needs: RequiredParts): PendingRequest {
      const one = new PendingRequest(hashes, needs);
      const alone = [one];
      for (const hash of hashes) {
        const queue = pending.get(hash);
        pending.set(hash, queue === undefined ? alone : [...queue, one]);
      }
      void loader.load(one);
      return one;
    },
    /** The requests that wait for a protein; undefined where none does. */
    pending: (hash: string) => pending.get(hash),
  };
}
