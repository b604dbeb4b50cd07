// The data of one zip entry: inflated or stored, checked against CRC-32 and sizes.
import { crc32 } from 'node:zlib';
import { ArchiveError, withEntryName } from './archive-limits.ts';
import type { ByteSource } from './byte-source.ts';
import { inflate, inflateSmallSync, inflateUnknownLength, SMALL_ENTRY_BYTES } from './inflate.ts';
import { DESCRIPTOR_LOOK, descriptorLength, type EntryHeader } from './zip-records.ts';

const PIECE = 64 * 1024;

async function* stored(source: ByteSource, size: number, check: (length: number) => void) {
  for (let left = size; left > 0; ) {
    const piece = await source.some(Math.min(left, PIECE));
    if (piece === null) throw new ArchiveError('truncated', 'The archive ends inside an entry.');
    left -= piece.length;
    check(piece.length);
    yield piece;
  }
}

/** Stored data of unknown length end where a signed data descriptor matches the data before it. */
async function* storedUntilDescriptor(source: ByteSource, check: (length: number) => void) {
  let crc = 0;
  let size = 0;
  for (;;) {
    const window = Buffer.from(await source.peek(PIECE));
    let done = 0;
    let found = false;
    for (
      let at = window.indexOf('PK\x07\x08');
      at !== -1 && !found;
      at = window.indexOf('PK\x07\x08', at + 1)
    ) {
      const look = window.subarray(at, at + DESCRIPTOR_LOOK);
      if (look.length < DESCRIPTOR_LOOK && window.length === PIECE) break;
      crc = crc32(window.subarray(done, at), crc);
      size += at - done;
      done = at;
      found = descriptorLength(look, crc, size, size) > 0;
    }
    const rest = found
      ? done
      : window.length < PIECE
        ? window.length
        : Math.max(done, PIECE - DESCRIPTOR_LOOK);
    crc = crc32(window.subarray(done, rest), crc);
    size += rest - done;
    if (rest > 0) {
      check(rest);
      yield window.subarray(0, rest);
      await source.take(rest);
    }
    if (found) return;
    if (window.length < PIECE) throw new ArchiveError('truncated', 'The archive ends inside an entry.');
  }
}

/** Compressed bytes that are waited for before anything is inflated, once for an archive. */
const REST = 1024 ** 2;

/** Data of unknown lengths: at once when the rest of the archive is short, else as they arrive. */
async function* inflatedToTheirEnd(source: ByteSource, check: (length: number) => void, body: EntryBody) {
  const rest = await source.rest(REST);
  const found = rest === undefined ? undefined : inflateUnknownLength(rest);
  if (found === undefined) {
    yield* inflate(source, undefined, check);
    return;
  }
  body.packed = await source.take(found.taken);
  check(found.data.length);
  if (found.data.length > 0) yield found.data;
}

/** Whether {@link readSmall} reads an entry at once: compressed, with known and small lengths. */
export const isSmall = ({ flags, method, compressed, size }: EntryHeader): boolean =>
  (flags & 8) === 0 &&
  method === 8 &&
  compressed > 0 &&
  compressed <= SMALL_ENTRY_BYTES &&
  size <= SMALL_ENTRY_BYTES;

function checkData(size: number, crc: number, header: EntryHeader): void {
  if (size !== header.size) throw new ArchiveError('size', 'An entry is shorter than it says.');
  if (crc !== header.crc) throw new ArchiveError('checksum', 'An entry is not what its checksum says.');
}

/**
 * Reads an entry of known and small lengths in one step, where {@link EntryBody} takes a dozen.
 *
 * @throws ArchiveError `checksum`, `size`, `corrupt`
 */
export function readSmall(packed: Uint8Array, header: EntryHeader): Uint8Array {
  const data = inflateSmallSync(packed, header.size);
  checkData(data.length, crc32(data), header);
  return data;
}

/** Called with uncompressed and compressed bytes so far; throws to stop. */
type CheckSize = (size: number, compressed: number) => void;

/**
 * The data of an entry in pieces, verified after the last: ArchiveError `checksum`, `size`, `corrupt`
 * or `truncated`. A reader that stops early leaves it open, so that the rest can be skipped.
 */
export class EntryBody implements AsyncIterableIterator<Uint8Array> {
  /** What was measured while the data went by. */
  crc = 0;
  size = 0;
  compressed = 0;
  /** The data as stored in the archive, if read at once; part of a larger buffer. */
  packed: Uint8Array | undefined;
  /** With what reading has failed. */
  failure: unknown;
  readonly #pieces: AsyncGenerator<Uint8Array>;
  readonly #name: string | undefined;

  constructor(source: ByteSource, header: EntryHeader, name: string | undefined, check: CheckSize) {
    this.#name = name;
    this.#pieces = readBody(source, header, check, this);
  }
  [Symbol.asyncIterator]() {
    return this;
  }
  async next(): Promise<IteratorResult<Uint8Array, unknown>> {
    try {
      return await this.#pieces.next();
    } catch (error) {
      this.failure = withEntryName(error, this.#name);
      throw this.failure;
    }
  }
  /** Frees what reading holds, without reading the rest. */
  async close(): Promise<void> {
    await this.#pieces.return(undefined);
  }
}

async function* readBody(
  source: ByteSource,
  header: EntryHeader,
  check: CheckSize,
  body: EntryBody,
): AsyncGenerator<Uint8Array> {
  const streamed = (header.flags & 8) !== 0;
  const start = source.position();
  const count = (length: number) => {
    body.size += length;
    if (!streamed && body.size > header.size)
      throw new ArchiveError('size', 'An entry is longer than it says.');
    check(body.size, source.position() - start);
  };
  const length = streamed ? undefined : header.compressed;
  const pieces =
    header.method === 8
      ? length === undefined
        ? inflatedToTheirEnd(source, count, body)
        : inflate(source, length, count)
      : length === undefined
        ? storedUntilDescriptor(source, count)
        : stored(source, length, count);
  for await (const piece of pieces) {
    body.crc = crc32(piece, body.crc);
    yield piece;
  }
  body.compressed = source.position() - start;
  if (!streamed) {
    checkData(body.size, body.crc, header);
    return;
  }
  const look = await source.peek(DESCRIPTOR_LOOK);
  const taken = descriptorLength(look, body.crc, body.compressed, body.size);
  if (taken === 0) {
    throw look.length < 16
      ? new ArchiveError('truncated', 'The archive ends behind an entry.')
      : new ArchiveError('checksum', 'An entry is not what its checksum and sizes say.');
  }
  await source.take(taken);
}
