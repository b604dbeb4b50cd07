// Reads zip archives entry by entry as their bytes arrive, without disk and with bounded memory.
import { ArchiveError, archiveLimits, checkSize, safeName, type ZipLimits } from './archive-limits.ts';
import { type ByteSource, byteSource } from './byte-source.ts';
import { EntryBody, isSmall } from './zip-body.ts';
import { SmallEntry, StreamedEntry, type ZipEntry } from './zip-entry.ts';
import {
  CENTRAL_HEADER,
  CENTRAL_LENGTH,
  END_OF_DIRECTORY,
  type EntryHeader,
  headerLength,
  LOCAL_HEADER,
  LOCAL_LENGTH,
  readDirectoryEnd,
  readHeader,
  signatureOf,
  ZIP64_END,
  ZIP64_LOCATOR,
} from './zip-records.ts';

/** Limits other than those of the largest archive, and callbacks. */
export interface ZipOptions extends Partial<ZipLimits> {
  /** Called with a refused entry if reading can go on; without it, the refusal is thrown. */
  readonly onProblem?: (problem: ArchiveError) => void;
  /** Called before waiting for bytes of an entry or yielding to the event loop. */
  readonly onWait?: (() => void) | undefined;
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

/** What was found where an entry stood. */
interface SeenEntry extends Pick<EntryHeader, 'crc' | 'compressed' | 'size' | 'offset'> {
  /** Whether the list of contents has named it. */
  listed: boolean;
}

const disagreement = (what: string) =>
  new ArchiveError('directory', `The archive's list of contents disagrees with its entries: ${what}.`);

/** Holds one line of the list against what was there. */
function checkLine(header: EntryHeader, seen: ReadonlyMap<string, SeenEntry>): void {
  const entry = seen.get(header.rawName);
  if (entry === undefined || entry.listed)
    throw disagreement('it names an entry that is not there, or names one twice');
  for (const key of ['crc', 'compressed', 'size', 'offset'] as const) {
    if (entry[key] !== header[key]) throw disagreement(`${key} of an entry`);
  }
  entry.listed = true;
}

/**
 * Reads from the first central header to the end of the stream.
 *
 * @param seen - by raw name, every entry that was found, the refused ones included
 * @throws ArchiveError `directory`, `truncated` or `corrupt`
 */
async function checkDirectory(source: ByteSource, seen: ReadonlyMap<string, SeenEntry>): Promise<void> {
  const start = source.position();
  let listed = 0;
  for (;;) {
    const head = await source.peek(CENTRAL_LENGTH);
    if (signatureOf(head) !== CENTRAL_HEADER) break;
    const whole = headerLength(head);
    if (whole === undefined) throw new ArchiveError('truncated', 'The archive ends in its list of contents.');
    checkLine(readHeader(await source.take(whole)), seen);
    listed += 1;
  }
  if (listed < seen.size) throw disagreement(`${seen.size - listed} entries are not in it`);
  const size = source.position() - start;
  const expected = (end: { count: number; size: number; offset: number }, elsewhere: boolean) => {
    const same = (stated: number, found: number, none: number) =>
      stated === found || (elsewhere && stated === none);
    if (
      !same(end.count, seen.size, 0xffff) ||
      !same(end.size, size, 0xffffffff) ||
      !same(end.offset, start, 0xffffffff)
    )
      throw disagreement('its own length or place');
  };
  let wide = false;
  if (signatureOf(await source.peek(4)) === ZIP64_END) {
    const fixed = await source.take(56);
    const rest = Number(new DataView(fixed.buffer, fixed.byteOffset).getBigUint64(4, true)) - 44;
    expected(readDirectoryEnd(fixed), false);
    if (rest < 0 || rest > 65_536) throw new ArchiveError('corrupt', "The archive's end record is damaged.");
    await source.take(rest);
    if (signatureOf(await source.peek(4)) !== ZIP64_LOCATOR)
      throw disagreement('the zip64 locator is missing');
    await source.take(20);
    wide = true;
  }
  const end = await source.peek(22);
  if (end.length < 22 || signatureOf(end) !== END_OF_DIRECTORY) {
    throw new ArchiveError(
      end.length < 22 ? 'truncated' : 'corrupt',
      end.length < 22
        ? 'The archive ends before its end record.'
        : 'The archive has a record that is not a zip record.',
    );
  }
  expected(readDirectoryEnd(end), wide);
  await source.take(22 + (end[20] ?? 0) + 256 * (end[21] ?? 0));
  if ((await source.peek(1)).length > 0)
    throw new ArchiveError('corrupt', 'There is something behind the archive.');
}

/**
 * Reads a zip: stored and deflated entries, sizes before or behind the data, zip64, comments.
 * Verifies CRC-32 and sizes of every entry as it is read, and the central directory at the end.
 * Skips directories.
 *
 * A damaged entry fails only when it is read, if the next one can still be found; else the whole
 * throws, and earlier entries stay valid. A failing source throws its own error.
 *
 * @param onEntry - called with each entry; waited for only where it returns a promise, because an
 *   archive has hundreds. Throwing ends the reading.
 * @throws ArchiveError
 */
export async function readZip(
  stream: AsyncIterable<Uint8Array>,
  onEntry: (entry: ZipEntry) => Promise<void> | void,
  options: ZipOptions = {},
): Promise<void> {
  const limits: ZipLimits = { ...archiveLimits({ proteins: 500, perResidue: true }), ...options };
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
      const start = await source.peek(LOCAL_LENGTH);
      if (signatureOf(start) !== LOCAL_HEADER) break;
      const offset = source.position();
      const whole = headerLength(start);
      if (whole === undefined)
        throw new ArchiveError('truncated', 'The archive ends in the header of an entry.');
      const header = readHeader(await source.take(whole));
      if (seen.size >= limits.entries)
        throw new ArchiveError('limit', `The archive has more than ${limits.entries} entries.`);
      const name = safeName(header.rawName, limits);
      const label = name instanceof ArchiveError ? undefined : name;
      const refused = refusal(header, name, seen.has(header.rawName), limits);
      const end = source.position() + header.compressed;
      const streamed = (header.flags & 8) !== 0;
      const readable = refused === undefined && label?.endsWith('/') === false;
      let measured: Pick<EntryHeader, 'crc' | 'size' | 'compressed'> = header;
      if (refused !== undefined) {
        if (options.onProblem === undefined || (streamed && refused.code === 'unsupported')) throw refused;
        options.onProblem(refused);
      }
      if (!streamed) checkTotal(header.size);
      if (readable && isSmall(header)) {
        const data = await source.take(header.compressed, () => endsInside(label));
        const read = onEntry(new SmallEntry(label, header, data, limits.keptBytes));
        if (read instanceof Promise) await read;
      } else if (readable || streamed) {
        const body = new EntryBody(source, header, label, (size, compressed) => {
          checkSize(limits, label ?? '', size, compressed);
          checkTotal(size);
        });
        const size = streamed ? undefined : header.size;
        if (readable) await onEntry(new StreamedEntry(label, size, body, limits.keptBytes));
        if (streamed) {
          if (body.failure !== undefined) throw body.failure;
          while ((await body.next()).done !== true);
          measured = body;
        } else await body.close();
      }
      if (!streamed && source.position() < end) await passOver(source, end, label);
      total += measured.size;
      if (!seen.has(header.rawName)) {
        const { crc, size, compressed } = measured;
        seen.set(header.rawName, { crc, size, compressed, offset, listed: false });
      }
    }
    hasMore = false;
    const next = await source.peek(4);
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

const endsInside = (entry: string | undefined): ArchiveError =>
  new ArchiveError('truncated', 'The archive ends inside an entry.', entry);

async function passOver(source: ByteSource, end: number, entry: string | undefined): Promise<void> {
  while (source.position() < end)
    if ((await source.some(end - source.position())) === null) throw endsInside(entry);
}
