// Reads the archive of a bulk look-up into the parts of each protein.
import { setImmediate as turn } from 'node:timers/promises';
import { decodeText, toBuffer } from '../../structure/lazy-text.ts';
import { isFields } from '../json/is-fields.ts';
import { parseJson } from '../json/parse-json.ts';
import { isAccession, isHash, normalizeHash } from '../wire-values.ts';
import { ArchiveError, type ArchiveLimits, archiveLimits } from './archive-limits.ts';
import { type BulkSequence, readFasta } from './fasta.ts';
import { type BulkFeatures, type RowSelection, readFeaturesFile } from './features-file.ts';
import { type ArchivedStructure, readStructureFile } from './structure-file.ts';
import { readZip, unpackMember, type ZipMember } from './zip.ts';

/** The parts of every protein in an archive, by hash. */
export interface BulkParts {
  readonly sequences: ReadonlyMap<string, BulkSequence>;
  readonly structures: ReadonlyMap<string, ArchivedStructure>;
  /** Representative of the protein's cluster. A protein without a cluster is not in it. */
  readonly representatives: ReadonlyMap<string, string>;
  /** By representative, the record as it came. */
  readonly clusters: ReadonlyMap<string, unknown>;
  readonly features: ReadonlyMap<string, BulkFeatures>;
  /** Every hash that some member mentions. */
  readonly present: ReadonlySet<string>;
  /** Why members were lost. With problems, a missing part may have been lost rather than absent. */
  readonly problems: readonly ArchiveError[];
  /** Whether there is a list of sequences, which names every protein. */
  readonly hasSequences: boolean;
}

/** Selects the parts of an archive that are read. */
export interface BulkOptions {
  /** The requested proteins: what the archive says of others is skipped. All when absent. */
  readonly hashes?: ReadonlySet<string>;
  /** Whether to keep the activations of all features next to a ranking. True by default. */
  readonly level?: boolean;
  /** Activations along the sequence; none when absent. */
  readonly rows?: RowSelection | undefined;
  readonly limits?: ArchiveLimits;
}

const MAX_PROBLEMS = 100;
/** Unpacked in one turn of the event loop: some 5 ms. A small archive is read in one turn. */
const BYTES_PER_TURN = 512 * 1024;

const STRUCTURE = /^structures\/([0-9a-f]{32})\.pdb$/i;

const toEntries = (value: unknown): [string, unknown][] => (isFields(value) ? Object.entries(value) : []);

/**
 * Reads the archive of `POST /proteins/batch` (spec, Bulk lookup). Unknown members and keys are
 * skipped. A member that cannot be read is a problem, and the others are read; a damaged archive
 * has what stands before the damage.
 */
export async function readBulkArchive(archive: Uint8Array, options: BulkOptions = {}): Promise<BulkParts> {
  const { limits = archiveLimits({ proteins: 500, perResidue: true }) } = options;
  const reader = new BulkReader(options);
  const members: ZipMember[] = [];
  let damage: ArchiveError | undefined;
  try {
    for await (const member of readZip(toBuffer(archive), limits)) members.push(member);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    damage = error;
  }
  let unpackedBytes = 0;
  for (const member of members) {
    // Not after the last: what is read would survive garbage collections of the other requests.
    if (unpackedBytes >= BYTES_PER_TURN) {
      await turn();
      unpackedBytes = 0;
    }
    await reader.read(member);
    if (reader.problems.length > MAX_PROBLEMS) break;
    unpackedBytes += member.size;
  }
  if (damage !== undefined) reader.problems.push(damage);
  return reader;
}

class BulkReader implements BulkParts {
  readonly sequences = new Map<string, BulkSequence>();
  readonly structures = new Map<string, ArchivedStructure>();
  readonly representatives = new Map<string, string>();
  readonly clusters = new Map<string, unknown>();
  readonly features = new Map<string, BulkFeatures>();
  readonly present = new Set<string>();
  readonly problems: ArchiveError[] = [];
  hasSequences = false;
  readonly #options: BulkOptions;

  constructor(options: BulkOptions) {
    this.#options = options;
  }

  /** Reads a member; what cannot be read of it becomes a problem. */
  async read(member: ZipMember): Promise<void> {
    try {
      const structureHash = STRUCTURE.exec(member.name)?.[1]?.toLowerCase();
      if (structureHash !== undefined) this.#readStructure(structureHash, member);
      else if (member.name === 'sequences.fasta') this.#readSequences(member);
      else if (member.name === 'cluster_info.json') await this.#readClusters(member);
      else if (member.name === 'features.json') await this.#readFeatures(member);
    } catch (error) {
      if (error instanceof SyntaxError) this.#reject(member, error.message);
      else if (error instanceof ArchiveError) this.problems.push(error);
      else throw error;
    }
  }

  #readStructure(hash: string, member: ZipMember): void {
    if (!this.#isWanted(hash)) return;
    const pdb = unpackMember(member);
    // A copy of what is not compressed: a text must not hold the archive in memory, and `slice` of
    // a Buffer copies nothing.
    this.structures.set(hash, readStructureFile(member.isCompressed ? pdb : new Uint8Array(pdb)));
    this.present.add(hash);
  }

  #readSequences(member: ZipMember): void {
    this.hasSequences = true;
    const fasta = decodeText(unpackMember(member));
    if (/^\s*[^\s>]/.test(fasta)) this.#reject(member, 'This is not FASTA.');
    for (const [hash, sequence] of readFasta(fasta)) {
      if (this.problems.length > MAX_PROBLEMS) return;
      if (!isHash(hash)) this.#reject(member, 'A header has no protein hash.');
      else if (!isAccession(sequence.accession ?? ''))
        this.#reject(member, 'An accession has control characters.');
      else if (this.#isWanted(hash)) {
        this.sequences.set(hash, sequence);
        this.present.add(hash);
      }
    }
  }

  async #readClusters(member: ZipMember): Promise<void> {
    const file = await parseJson(unpackMember(member));
    if (!isFields(file)) return;
    for (const [representative, record] of toEntries(file.clusters))
      this.clusters.set(normalizeHash(representative), record);
    for (const [key, representative] of toEntries(file.proteins)) {
      const hash = normalizeHash(key);
      if (typeof representative === 'string') {
        if (!this.#isWanted(hash)) continue;
        const name = normalizeHash(representative);
        if (isHash(name)) {
          this.representatives.set(hash, name);
          this.present.add(hash);
        } else this.#reject(member, 'The name of a cluster is not a hash.');
      } else if (representative !== null) this.#reject(member, 'The name of a cluster is not a hash.');
    }
  }

  async #readFeatures(member: ZipMember): Promise<void> {
    const { hashes, level = true, rows } = this.#options;
    for (const [hash, features] of await readFeaturesFile(member, { hashes, level, rows })) {
      if (features === null) this.#reject(member, 'The features are not a JSON object.');
      else {
        this.features.set(hash, features);
        this.present.add(hash);
      }
    }
  }

  #isWanted(hash: string): boolean {
    return this.#options.hashes?.has(hash) !== false;
  }

  #reject({ name }: ZipMember, reason: string): void {
    if (this.problems.length <= MAX_PROBLEMS) this.problems.push(new ArchiveError(`${reason} (${name})`));
  }
}
