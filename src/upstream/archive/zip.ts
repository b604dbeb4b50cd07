// Reads zip archives entry by entry as their bytes arrive, without disk and with bounded memory.
import { ArchiveError, checkSize, defaultZipLimits, safeName, type ZipLimits } from './archive-limits.ts';
import { type ByteSource, byteSource } from './byte-source.ts';
import { entryBody, isSmall, type SizedBody } from './zip-body.ts';
import { checkDirectory, type SeenEntry } from './zip-directory.ts';
import { openBufferedEntry, openEntry, withEntryName, type ZipEntry } from './zip-entry.ts';
import {
  type EntryHeader,
  headerLength,
  LOCAL_HEADER,
  LOCAL_LENGTH,
  readHeader,
  signatureOf,
} from './zip-records.ts';

/** Limits other than the defaults, and callbacks. */
export interface ZipOptions extends Partial<ZipLimits> {
  /** Called with a refused entry if reading can go on; without it, the refusal is thrown. */
  readonly onProblem?: (problem: ArchiveError) => void;
  /**
   * Called with each entry that is read in one step; one that it takes is not yielded, which saves
   * promises.
   */
  readonly take?: (entry: ZipEntry) => boolean;
  /** Called before waiting for bytes of an entry or yielding to the event loop. */
  readonly onWait?: (() => void) | undefined;
}

/** Reads the header of which these bytes are the beginning. */
function nextHeader(source: ByteSource, start: Uint8Array): EntryHeader | Promise<EntryHeader> {
  const whole = headerLength(start);
  if (whole === undefined) throw new ArchiveError('truncated', 'The archive ends in the header of an entry.');
  const bytes = source.takeNow(whole);
  return bytes === undefined ? source.take(whole).then(readHeader) : readHeader(bytes);
}

/** The data of an entry, all at once; undefined where the archive ends before they do. */
async function wholeData(source: ByteSource, { compressed }: EntryHeader): Promise<Uint8Array | undefined> {
  return (await source.has(compressed)) ? source.take(compressed) : undefined;
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

async function* noting(
  data: AsyncGenerator<Uint8Array>,
  label: string | undefined,
  seen: { failed: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    yield* data;
  } catch (error) {
    seen.failed = label === undefined ? error : withEntryName(error, label);
    throw seen.failed;
  }
}

/** The data of an entry, and with what they have failed. */
function watched(data: AsyncGenerator<Uint8Array>, label: string | undefined) {
  const seen: { failed: unknown } = { failed: undefined };
  return { body: noting(data, label, seen), failure: () => seen.failed };
}

/**
 * Reads a zip: stored and deflated entries, sizes before or behind the data, zip64, comments.
 * Verifies CRC-32 and sizes of every entry as it is read, and the central directory at the end.
 * Skips directories.
 *
 * A damaged entry fails only when it is read, if the next one can still be found; else the
 * iteration throws, and earlier entries stay valid. A failing source throws its own error.
 *
 * @throws ArchiveError
 */
export async function* readZip(
  stream: AsyncIterable<Uint8Array>,
  options: ZipOptions = {},
): AsyncGenerator<ZipEntry, void, undefined> {
  const limits: ZipLimits = { ...defaultZipLimits, ...options };
  // After the last entry the result follows at once.
  let hasMore = true;
  const source = byteSource(stream, () => hasMore && options.onWait?.());
  const seen = new Map<string, SeenEntry>();
  let total = 0;
  const checkTotal = (size: number): void => {
    if (total + size > limits.totalBytes)
      throw new ArchiveError('limit', `The archive holds more than ${limits.totalBytes} bytes.`);
  };
  try {
    for (;;) {
      const start = source.peekNow(LOCAL_LENGTH) ?? (await source.peek(LOCAL_LENGTH));
      if (signatureOf(start) !== LOCAL_HEADER) break;
      const offset = source.position();
      const reading = nextHeader(source, start);
      const header = reading instanceof Promise ? await reading : reading;
      if (seen.size >= limits.entries)
        throw new ArchiveError('limit', `The archive has more than ${limits.entries} entries.`);
      const name = safeName(header.rawName, limits);
      const label = name instanceof ArchiveError ? undefined : name;
      const refused = refusal(header, name, seen.has(header.rawName), limits);
      const end = source.position() + header.compressed;
      const streamed = (header.flags & 8) !== 0;
      const readable = refused === undefined && label?.endsWith('/') === false;
      const measured: SizedBody = { crc: header.crc, size: header.size, compressed: header.compressed };
      if (refused !== undefined) {
        if (options.onProblem === undefined || (streamed && refused.code === 'unsupported')) throw refused;
        options.onProblem(refused);
      }
      if (readable && isSmall(header)) {
        const data = source.takeNow(header.compressed) ?? (await wholeData(source, header));
        const entry = openBufferedEntry(label, header, data, limits.keptBytes, checkTotal);
        if (options.take?.(entry) !== true) yield entry;
      } else if (readable || streamed) {
        const check = (size: number, compressed: number) => {
          checkSize(limits, label ?? '', size, compressed);
          checkTotal(size);
        };
        const { body, failure } = watched(entryBody(source, header, check, measured), label);
        if (readable)
          yield openEntry(label, streamed ? undefined : header.size, body, limits.keptBytes, measured);
        if (streamed) {
          const failed = failure();
          if (failed !== undefined) throw failed;
          while ((await body.next()).done !== true);
        } else await body.return(undefined);
      }
      if (!streamed && source.position() < end) await passOver(source, end, label);
      total += measured.size;
      checkTotal(0);
      if (!seen.has(header.rawName)) {
        const { crc, size, compressed } = streamed ? measured : header;
        seen.set(header.rawName, { crc, size, compressed, offset, listed: false });
      }
    }
    hasMore = false;
    const next = source.peekNow(4) ?? (await source.peek(4));
    if (next.length < 4) throw new ArchiveError('truncated', 'The archive ends too early.');
    if (next[0] !== 0x50 || next[1] !== 0x4b) {
      throw new ArchiveError(
        'corrupt',
        seen.size === 0 ? 'This is not a zip archive.' : 'The archive is damaged after an entry.',
      );
    }
    await checkDirectory(source, seen);
  } finally {
    await source.close();
  }
}

async function passOver(source: ByteSource, end: number, entry: string | undefined): Promise<void> {
  while (source.position() < end) {
    if ((await source.some(end - source.position())) === null) {
      throw new ArchiveError('truncated', 'The archive ends inside an entry.', entry);
    }
  }
}
