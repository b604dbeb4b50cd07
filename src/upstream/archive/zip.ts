// Zip archives read as their bytes arrive, entry by entry, with nothing on disk and no more in memory than what is asked
// for. It knows the format and its dangers, and nothing of what the entries mean.
import { ArchiveError } from './archive-error.ts';
import { type ByteSource, byteSource } from './byte-source.ts';
import { inflateFew } from './inflate.ts';
import { entryBody, type Measured } from './zip-body.ts';
import { checkDirectory, type SeenEntry } from './zip-directory.ts';
import { checkSize, defaultZipLimits, safeName, type ZipLimits } from './zip-limits.ts';
import { type EntryHeader, headerLengths, LOCAL_HEADER, readHeader, signatureOf } from './zip-records.ts';

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
  /** The same, kept as small as it came and unpacked anew each time it is read. @throws ArchiveError */
  packed(): Promise<PackedText>;
}

/** Checked text, compressed where the archive has it compressed and small. */
export interface PackedText {
  /** Bytes of the text. */
  readonly size: number;
  /** Unpacks it: some 50 µs for a structure. */
  read(): string;
}

/** Limits other than the usual ones, and who is told of entries that are refused. */
export interface ZipOptions extends Partial<ZipLimits> {
  /** Told of an entry that is refused where reading can go on behind it; without this, the refusal is thrown. */
  readonly onProblem?: (problem: ArchiveError) => void;
}

const withEntry = (error: unknown, entry: string): unknown =>
  error instanceof ArchiveError && error.entry === undefined
    ? new ArchiveError(error.code, error.message, entry, { cause: error.cause })
    : error;

async function* pieces(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    // Not `for await`: a reader who stops early must not end the body, whose rest still has to be passed over.
    const next = await body.next();
    if (next.done === true) return;
    yield next.value;
  }
}

const decoder = new TextDecoder();

async function gathered(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of body) all.push(piece);
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : Buffer.concat(all);
}

function openEntry(
  name: string,
  size: number | undefined,
  body: AsyncIterator<Uint8Array>,
  kept: number,
  measured: Measured,
): ZipEntry {
  let opened = false;
  const stream = () => {
    if (opened) throw new Error('An entry can be read only once.');
    opened = true;
    return pieces(body);
  };
  const held = async function* () {
    let length = 0;
    for await (const piece of stream()) {
      length += piece.length;
      if (length > kept) throw new ArchiveError('limit', `An entry is larger than ${kept} bytes.`, name);
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
      const bytes = await gathered(held());
      if (measured.packed === undefined) {
        const text = decoder.decode(bytes);
        return { size: bytes.length, read: () => text };
      }
      // A copy: a part of what came from the connection would keep the whole of that in memory.
      const data = Uint8Array.from(measured.packed);
      const size = bytes.length;
      // Most is read in the turn in which it came; the rest is let go then.
      let fresh: string | undefined = decoder.decode(bytes);
      setImmediate(() => {
        fresh = undefined;
      });
      return { size, read: () => fresh ?? decoder.decode(inflateFew(data, size)) };
    },
  };
}

async function nextHeader(source: ByteSource): Promise<EntryHeader> {
  const lengths = headerLengths(await source.peek(30));
  if (lengths === undefined)
    throw new ArchiveError('truncated', 'The archive ends in the header of an entry.');
  return readHeader(await source.take(lengths.fixed + lengths.name + lengths.rest));
}

function refusal(
  header: EntryHeader,
  name: string | ArchiveError,
  known: boolean,
  limits: ZipLimits,
): ArchiveError | undefined {
  if (name instanceof ArchiveError) return name;
  if (known) return new ArchiveError('name', 'A name comes twice.', name);
  if ((header.flags & 0x2041) !== 0) return new ArchiveError('unsupported', 'An entry is encrypted.', name);
  if (header.method !== 0 && header.method !== 8) {
    return new ArchiveError('unsupported', `An entry is compressed by method ${header.method}.`, name);
  }
  if ((header.flags & 8) !== 0) return undefined;
  if (header.method === 0 && header.size !== header.compressed) {
    return new ArchiveError('size', 'An entry that is not compressed has two sizes.', name);
  }
  try {
    checkSize(limits, name, header.size, header.compressed);
  } catch (error) {
    if (error instanceof ArchiveError) return error;
    throw error;
  }
  return undefined;
}

/**
 * Reads a zip: stored and deflated entries, sizes before or behind the data, zip64, comments. Every entry's CRC-32 and sizes
 * are checked as it is read, and at the end the archive's list of contents against what was there.
 *
 * An entry that is damaged while the ones behind it can still be found fails only where it is read. Where the rest cannot be
 * found any more the iteration throws; entries that were read before stay good. Directories are left out. A failing source
 * (a broken connection) throws its own error.
 *
 * @throws ArchiveError
 */
export async function* readZip(
  stream: AsyncIterable<Uint8Array>,
  options: ZipOptions = {},
): AsyncGenerator<ZipEntry, void, undefined> {
  const limits: ZipLimits = { ...defaultZipLimits, ...options };
  const source = byteSource(stream);
  const seen = new Map<string, SeenEntry>();
  let total = 0;
  try {
    while (signatureOf(await source.peek(4)) === LOCAL_HEADER) {
      const offset = source.position;
      const header = await nextHeader(source);
      if (seen.size >= limits.entries)
        throw new ArchiveError('limit', `The archive has more than ${limits.entries} entries.`);
      const name = safeName(header.nameBytes, limits);
      const label = name instanceof ArchiveError ? undefined : name;
      const refused = refusal(header, name, seen.has(header.rawName), limits);
      const streamed = (header.flags & 8) !== 0;
      const end = source.position + header.compressed;
      const measured: Measured = { crc: header.crc, size: header.size, compressed: header.compressed };
      let failure: unknown;
      const body = (async function* () {
        try {
          yield* entryBody(
            source,
            header,
            (size, compressed) => {
              checkSize(limits, label ?? '', size, compressed);
              if (total + size > limits.totalBytes) {
                throw new ArchiveError('limit', `The archive holds more than ${limits.totalBytes} bytes.`);
              }
            },
            measured,
          );
        } catch (error) {
          failure = label === undefined ? error : withEntry(error, label);
          throw failure;
        }
      })();
      if (refused !== undefined) {
        if (options.onProblem === undefined || (streamed && refused.code === 'unsupported')) throw refused;
        options.onProblem(refused);
      } else if (label?.endsWith('/') === false) {
        yield openEntry(label, streamed ? undefined : header.size, body, limits.keptBytes, measured);
      }
      if (streamed) {
        if (failure !== undefined) throw failure;
        while ((await body.next()).done !== true);
      } else {
        await body.return(undefined);
        await passOver(source, end, label);
      }
      total += measured.size;
      if (total > limits.totalBytes) {
        throw new ArchiveError('limit', `The archive holds more than ${limits.totalBytes} bytes.`);
      }
      if (!seen.has(header.rawName)) seen.set(header.rawName, { ...(streamed ? measured : header), offset });
    }
    const next = await source.peek(4);
    if (next.length < 4) throw new ArchiveError('truncated', 'The archive ends too early.');
    if (next[0] !== 0x50 || next[1] !== 0x4b) {
      throw new ArchiveError(
        'corrupt',
        seen.size === 0 ? 'This is no zip archive.' : 'The archive is damaged behind an entry.',
      );
    }
    await checkDirectory(source, seen);
  } finally {
    await source.close();
  }
}

async function passOver(source: ByteSource, end: number, entry: string | undefined): Promise<void> {
  while (source.position < end) {
    if ((await source.some(end - source.position)) === null) {
      throw new ArchiveError('truncated', 'The archive ends inside an entry.', entry);
    }
  }
}
