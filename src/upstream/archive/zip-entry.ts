// One file of an archive for its reader: streamed, whole, or still packed.
import { LRUCache } from 'lru-cache';
import { ArchiveError, withEntryName } from './archive-limits.ts';
import { inflateSmallSync } from './inflate.ts';
import { type EntryBody, readSmall } from './zip-body.ts';
import type { EntryHeader } from './zip-records.ts';

/** One file of an archive. Read it once, before the next entry; an unread entry is skipped. */
export interface ZipEntry {
  readonly name: string;
  /** Uncompressed bytes as the archive states them; undefined where it does not before the data. */
  readonly size: number | undefined;
  /** The data as they arrive, verified only after the last piece: until then an error may follow. */
  stream(): AsyncIterable<Uint8Array>;
  /** All data, checked. @throws ArchiveError */
  bytes(): Promise<Uint8Array>;
  /** The data as text, still compressed; synchronous where all of it is here. @throws ArchiveError */
  packed(): EntryText | Promise<EntryText>;
}

const decoder = new TextDecoder();

/** Bytes of texts that are unpacked and not yet written, in the process: some 500 structures. */
const MAX_INFLATED_BYTES = 16 * 1024 ** 2;

/** Texts that were unpacked to be checked, until they are written. */
const inflated = new LRUCache<EntryText, Uint8Array>({ maxSize: MAX_INFLATED_BYTES });

/** Checked text of an entry, compressed where the archive has it compressed and small. */
export class EntryText {
  /** Bytes of the text. */
  readonly size: number;
  readonly #held: Uint8Array;
  readonly #isCompressed: boolean;

  /** @param compressed - part of a larger buffer; this copies it */
  constructor(data: Uint8Array, compressed: Uint8Array | undefined) {
    this.size = data.length;
    this.#held = new Uint8Array(compressed ?? data);
    this.#isCompressed = compressed !== undefined;
    if (this.#isCompressed && data.length > 0) inflated.set(this, data, { size: data.buffer.byteLength });
  }
  /** Bytes that are held of it. */
  get heldBytes(): number {
    return this.#held.length;
  }
  /** Unpacks it: some 50 µs for a structure. Nothing writes to the bytes. */
  bytes(): Uint8Array {
    const data = this.#data();
    inflated.delete(this);
    return data;
  }
  /** What stands before some ASCII, or all of it: at once while it is unpacked to be checked. */
  before(word: string): string {
    const { buffer, byteOffset, byteLength } = this.#data();
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const end = bytes.indexOf(word, 0, 'latin1');
    return bytes.toString('latin1', 0, end === -1 ? byteLength : end);
  }
  /** The same as a string. */
  read(): string {
    return decoder.decode(this.#data());
  }
  #data(): Uint8Array {
    if (!this.#isCompressed) return this.#held;
    return inflated.get(this) ?? inflateSmallSync(this.#held, this.size);
  }
}

const tooLarge = (name: string, kept: number): ArchiveError =>
  new ArchiveError('limit', `An entry is larger than ${kept} bytes.`, name);

/** An entry whose data arrive in pieces. */
export class StreamedEntry implements ZipEntry {
  readonly name: string;
  readonly size: number | undefined;
  readonly #body: EntryBody;
  readonly #kept: number;

  /** @param kept - maximum bytes that are held of it */
  constructor(name: string, size: number | undefined, body: EntryBody, kept: number) {
    this.name = name;
    this.size = size;
    this.#body = body;
    this.#kept = kept;
  }
  stream(): AsyncIterable<Uint8Array> {
    return this.#body;
  }
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of this.#body) {
      length += piece.length;
      if (length > this.#kept) throw tooLarge(this.name, this.#kept);
      pieces.push(piece);
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
  async packed(): Promise<EntryText> {
    return new EntryText(await this.bytes(), this.#body.packed);
  }
}

/** An entry with few data, all here: read in one step. */
export class SmallEntry implements ZipEntry {
  readonly name: string;
  readonly #header: EntryHeader;
  readonly #compressed: Uint8Array;
  readonly #kept: number;

  constructor(name: string, header: EntryHeader, compressed: Uint8Array, kept: number) {
    this.name = name;
    this.#header = header;
    this.#compressed = compressed;
    this.#kept = kept;
  }
  get size(): number {
    return this.#header.size;
  }
  #read(): Uint8Array {
    try {
      return readSmall(this.#compressed, this.#header);
    } catch (error) {
      throw withEntryName(error, this.name);
    }
  }
  #readKept(): Uint8Array {
    const data = this.#read();
    if (data.length > this.#kept) throw tooLarge(this.name, this.#kept);
    return data;
  }
  async *stream(): AsyncGenerator<Uint8Array> {
    yield this.#read();
  }
  async bytes(): Promise<Uint8Array> {
    return this.#readKept();
  }
  packed(): EntryText {
    return new EntryText(this.#readKept(), this.#compressed);
  }
}
