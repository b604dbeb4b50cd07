// One file of an archive for its reader: streamed, whole, as text, or still packed.
import { LRUCache } from 'lru-cache';
import { ArchiveError } from './archive-limits.ts';
import { inflateSmallSync } from './inflate.ts';
import { readSmall, type SizedBody } from './zip-body.ts';
import type { EntryHeader } from './zip-records.ts';

/** One file of an archive. Read it once, before the next entry; an unread entry is skipped. */
export interface ZipEntry {
  readonly name: string;
  /** Uncompressed bytes as the archive states them; undefined where it does not before the data. */
  readonly size: number | undefined;
  /** The data as they arrive, verified only after the last chunk: until then an error may follow. */
  stream(): AsyncGenerator<Uint8Array>;
  /** All data, checked. @throws ArchiveError */
  bytes(): Promise<Uint8Array>;
  /** All data as UTF-8 text, checked. @throws ArchiveError */
  text(): Promise<string>;
  /** The text, still compressed; synchronous where all of it is here. @throws ArchiveError */
  packed(): CompressedEntryText | Promise<CompressedEntryText>;
}

/** Checked text, compressed where the archive has it compressed and small. */
export interface CompressedEntryText {
  /** Bytes of the text. */
  readonly size: number;
  /** Bytes that are held of it. */
  readonly heldBytes: number;
  /** Unpacks it, for this turn of the event loop: some 50 µs for a structure. */
  bytes(): Uint8Array;
  /** The same as a string. */
  read(): string;
}

const decoder = new TextDecoder();

export const withEntryName = (error: unknown, entry: string): unknown =>
  error instanceof ArchiveError && error.entry === undefined
    ? new ArchiveError(error.code, error.message, entry, { cause: error.cause })
    : error;

/** Bytes of texts that are unpacked and not yet written, in the process: some 500 structures. */
const MAX_INFLATED_BYTES = 16 * 1024 ** 2;

/** Texts that were unpacked to be checked, until they are written. */
const inflated = new LRUCache<CompressedText, Uint8Array>({ maxSize: MAX_INFLATED_BYTES });

/** Text of an entry that was read at once. */
class CompressedText implements CompressedEntryText {
  readonly size: number;
  readonly heldBytes: number;
  readonly #compressed: Uint8Array;

  /** @param compressed - part of a larger buffer; this copies it */
  constructor(data: Uint8Array, compressed: Uint8Array) {
    this.size = data.length;
    this.heldBytes = compressed.length;
    this.#compressed = compressed.slice();
    if (data.length > 0) inflated.set(this, data, { size: data.buffer.byteLength });
  }
  bytes(): Uint8Array {
    const data = this.#inflated();
    inflated.delete(this);
    return data;
  }
  read(): string {
    return decoder.decode(this.#inflated());
  }
  #inflated(): Uint8Array {
    return inflated.get(this) ?? inflateSmallSync(this.#compressed, this.size);
  }
}

function packedText(data: Uint8Array, packed: Uint8Array | undefined): CompressedEntryText {
  if (packed !== undefined) return new CompressedText(data, packed);
  const kept = new Uint8Array(data);
  return { size: kept.length, heldBytes: kept.length, bytes: () => kept, read: () => decoder.decode(kept) };
}

async function* pieces(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    // Not `for await`: a reader that stops early must not end the body, whose rest is to be skipped.
    const next = await body.next();
    if (next.done === true) return;
    yield next.value;
  }
}

async function gathered(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of body) all.push(piece);
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : Buffer.concat(all);
}

const onlyOnce = (): Error => new Error('An entry can be read only once.');

const tooLarge = (name: string, kept: number): ArchiveError =>
  new ArchiveError('limit', `An entry is larger than ${kept} bytes.`, name);

/** Limits the bytes. Not nested: V8 retains what a generator function closes over until a full GC. */
async function* upTo(
  most: number,
  name: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > most) throw tooLarge(name, most);
    yield piece;
  }
}

/** An entry whose data arrive in chunks. @param kept - maximum bytes held */
export function openEntry(
  name: string,
  size: number | undefined,
  body: AsyncIterator<Uint8Array>,
  kept: number,
  measured: SizedBody,
): ZipEntry {
  let opened = false;
  const stream = () => {
    if (opened) throw onlyOnce();
    opened = true;
    return pieces(body);
  };
  const held = () => upTo(kept, name, stream());
  return {
    name,
    size,
    stream,
    bytes: () => gathered(held()),
    async text() {
      // Decoded whole: piece by piece it takes ten times as long.
      return decoder.decode(await gathered(held()));
    },
    async packed() {
      return packedText(await gathered(held()), measured.packed);
    },
  };
}

/** An entry whose data are here and few. */
class BufferedEntry implements ZipEntry {
  readonly name: string;
  readonly #header: EntryHeader;
  readonly #packed: Uint8Array | undefined;
  readonly #kept: number;
  readonly #check: (size: number) => void;
  #opened = false;

  constructor(
    name: string,
    header: EntryHeader,
    packed: Uint8Array | undefined,
    kept: number,
    check: (size: number) => void,
  ) {
    this.name = name;
    this.#header = header;
    this.#packed = packed;
    this.#kept = kept;
    this.#check = check;
  }
  get size(): number {
    return this.#header.size;
  }
  #read(most = this.#kept): Uint8Array {
    if (this.#opened) throw onlyOnce();
    this.#opened = true;
    try {
      this.#check(this.#header.size);
      if (this.#packed === undefined)
        throw new ArchiveError('truncated', 'The archive ends inside an entry.');
      const data = readSmall(this.#packed, this.#header);
      if (data.length > most) throw tooLarge(this.name, most);
      return data;
    } catch (error) {
      throw withEntryName(error, this.name);
    }
  }
  async *stream(): AsyncGenerator<Uint8Array> {
    yield this.#read(Number.POSITIVE_INFINITY);
  }
  async bytes(): Promise<Uint8Array> {
    return this.#read();
  }
  async text(): Promise<string> {
    return decoder.decode(this.#read());
  }
  packed(): CompressedEntryText {
    return packedText(this.#read(), this.#packed);
  }
}

/**
 * An entry with few data, all here: read in one step.
 *
 * @param packed - as stored in the archive; undefined where the archive ends too early
 * @param check - called with the entry's size; throws when it is over the limit
 */
export const openBufferedEntry = (
  name: string,
  header: EntryHeader,
  packed: Uint8Array | undefined,
  kept: number,
  check: (size: number) => void,
): ZipEntry => new BufferedEntry(name, header, packed, kept, check);
