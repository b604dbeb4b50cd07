// Checks the central directory of a zip against the entries that were read.
import { ArchiveError } from './archive-limits.ts';
import type { ByteSource } from './byte-source.ts';
import {
  CENTRAL_HEADER,
  CENTRAL_LENGTH,
  END_OF_DIRECTORY,
  type EntryHeader,
  headerLength,
  readDirectoryEnd,
  readHeader,
  signatureOf,
  ZIP64_END,
  ZIP64_LOCATOR,
} from './zip-records.ts';

/** What was found where an entry stood. */
export interface SeenEntry extends Pick<EntryHeader, 'crc' | 'compressed' | 'size' | 'offset'> {
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
export async function checkDirectory(
  source: ByteSource,
  seen: ReadonlyMap<string, SeenEntry>,
): Promise<void> {
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
