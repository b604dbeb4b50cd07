// One file of an archive as its reader is given it: as it arrives, whole, as text, or kept packed. It knows nothing of where in the archive it stands.
import { ArchiveError } from './archive-error.ts';
import { hold } from './held-data.ts';
import { inflateBriefly, inflateFew } from './inflate.ts';
import { fewBytes, type Measured } from './zip-body.ts';
import type { EntryHeader } from './zip-records.ts';

/** One file of an archive. Read it, once, before the next entry is asked for; an entry that is not read is passed over. */
export interface ZipEntry {
  readonly name: string;
  /** Uncompressed bytes as the archive states them; undefined where it does not before the data. */
  readonly size: number | undefined;
  /** The data as they arrive. Only after the last piece are they known to be whole: until then an error may follow. */
  stream(): AsyncGenerator<Uint8Array>;
  /** All data, checked. @throws ArchiveError */
  bytes(): Promise<Uint8Array>;
  /** All data as UTF-8 text, checked. @throws ArchiveError */
  text(): Promise<string>;
  /** The same, kept as small as it came and unpacked anew each time it is read; at once where all of it is here. @throws ArchiveError */
  packed(): PackedText | Promise<PackedText>;
}

/** Checked text, compressed where the archive has it compressed and small. */
export interface PackedText {
  /** Bytes of the text. */
  readonly size: number;
  /** Unpacks it, for this turn of the event loop: some 50 µs for a structure. */
  bytes(): Uint8Array;
  /** The same as a string. */
  read(): string;
}

const decoder = new TextDecoder();

export const withEntry = (error: unknown, entry: string): unknown =>
  error instanceof ArchiveError && error.entry === undefined
    ? new ArchiveError(error.code, error.message, entry, { cause: error.cause })
    : error;

/** @param packed - the same data compressed, a part of a larger buffer */
function packedText(data: Uint8Array, packed: Uint8Array | undefined): PackedText {
  if (packed === undefined) {
    const kept = new Uint8Array(data);
    return { size: kept.length, bytes: () => kept, read: () => decoder.decode(kept) };
  }
  const size = data.length;
  // No copy, although a part of what came from the connection keeps the whole of that, 64 KB, in memory: the entries beside it are most
  // often kept as long, and as many copies of everything that passes would make the collector run for each answer.
  const held = hold(data);
  return {
    size,
    // Whoever writes it out wants it once.
    bytes: () => held.take() ?? inflateBriefly(packed, size),
    read: () => decoder.decode(held.peek() ?? inflateBriefly(packed, size)),
  };
}

async function* pieces(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    // Not `for await`: a reader who stops early must not end the body, whose rest still has to be passed over.
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

const onlyOnce = (): (() => void) => {
  let opened = false;
  return () => {
    if (opened) throw new Error('An entry can be read only once.');
    opened = true;
  };
};

const tooLarge = (name: string, kept: number): ArchiveError =>
  new ArchiveError('limit', `An entry is larger than ${kept} bytes.`, name);

/** An entry whose data come one after the other. @param kept - bytes that are held at most */
export function openEntry(
  name: string,
  size: number | undefined,
  body: AsyncIterator<Uint8Array>,
  kept: number,
  measured: Measured,
): ZipEntry {
  const open = onlyOnce();
  const stream = () => {
    open();
    return pieces(body);
  };
  const held = async function* () {
    let length = 0;
    for await (const piece of stream()) {
      length += piece.length;
      if (length > kept) throw tooLarge(name, kept);
      yield piece;
    }
  };
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

/**
 * An entry whose data are here and few: read in one step.
 *
 * @param packed - as they stand in the archive; undefined where it ends before they do
 * @param check - throws where they are more than is allowed
 */
export function openFewEntry(
  name: string,
  header: EntryHeader,
  packed: Uint8Array | undefined,
  kept: number,
  check: () => void,
): ZipEntry {
  const open = onlyOnce();
  const read = (unpack: typeof inflateFew, most = kept): Uint8Array => {
    open();
    try {
      check();
      if (packed === undefined) throw new ArchiveError('truncated', 'The archive ends inside an entry.');
      const data = fewBytes(packed, header, unpack);
      if (data.length > most) throw tooLarge(name, most);
      return data;
    } catch (error) {
      throw withEntry(error, name);
    }
  };
  return {
    name,
    size: header.size,
    async *stream() {
      yield read(inflateFew, Number.POSITIVE_INFINITY);
    },
    bytes: async () => read(inflateFew),
    text: async () => decoder.decode(read(inflateBriefly)),
    packed: () => packedText(read(inflateBriefly), packed),
  };
}
