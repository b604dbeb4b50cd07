// Parses the records of the zip format (APPNOTE 6.3).

export const LOCAL_HEADER = 0x04034b50;
export const CENTRAL_HEADER = 0x02014b50;
export const END_OF_DIRECTORY = 0x06054b50;
export const ZIP64_END = 0x06064b50;
export const ZIP64_LOCATOR = 0x07064b50;
const DESCRIPTOR = 0x08074b50;

/** A size of this value stands in the zip64 extra field instead. */
const ELSEWHERE = 0xffffffff;

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// Not by a view: there are hundreds of headers in an archive, and each would need one.
const short = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
const word = (bytes: Uint8Array, at: number): number =>
  (short(bytes, at) | (short(bytes, at + 2) << 16)) >>> 0;

/** The four bytes that a record begins with; -1 when there are fewer. */
export const signatureOf = (bytes: Uint8Array): number => (bytes.length < 4 ? -1 : word(bytes, 0));

/** The 64-bit numbers of the zip64 extra field (0x0001); undefined without one. */
function zip64Numbers(extra: Uint8Array): number[] | undefined {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) {
      const numbers: number[] = [];
      for (let k = at + 4; k + 8 <= Math.min(at + 4 + length, extra.length); k += 8)
        numbers.push(Number(view.getBigUint64(k, true)));
      return numbers;
    }
    at += 4 + length;
  }
  return undefined;
}

/** What a local or central header says of an entry. */
export interface EntryHeader {
  readonly flags: number;
  /** 0 stored, 8 deflate. */
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  /** The name's bytes, one character each. */
  readonly rawName: string;
  /** Where the local header begins; 0 in a local header. */
  readonly offset: number;
}

/** Bytes of a header before its name. */
export const LOCAL_LENGTH = 30;
export const CENTRAL_LENGTH = 46;

const LOCAL = { length: LOCAL_LENGTH, flags: 6, method: 8, crc: 14, sizes: 18, names: 26 };
const CENTRAL = { length: CENTRAL_LENGTH, flags: 8, method: 10, crc: 16, sizes: 20, names: 28 };

/**
 * Length of a header with name, extra field and comment; undefined for too few bytes or no header.
 */
export function headerLength(bytes: Uint8Array): number | undefined {
  const signature = signatureOf(bytes);
  const form = signature === LOCAL_HEADER ? LOCAL : signature === CENTRAL_HEADER ? CENTRAL : undefined;
  if (form === undefined || bytes.length < form.length) return undefined;
  const comment = form === CENTRAL ? short(bytes, 32) : 0;
  return form.length + short(bytes, form.names) + short(bytes, form.names + 2) + comment;
}

/** Reads a whole header, name and extra field included. */
export function readHeader(bytes: Uint8Array): EntryHeader {
  const central = signatureOf(bytes) === CENTRAL_HEADER;
  const form = central ? CENTRAL : LOCAL;
  const nameEnd = form.length + short(bytes, form.names);
  const extra = short(bytes, form.names + 2);
  const numbers = extra === 0 ? undefined : zip64Numbers(bytes.subarray(nameEnd, nameEnd + extra));
  const waiting = numbers === undefined ? undefined : [...numbers];
  const wide = (value: number) => (value === ELSEWHERE ? (waiting?.shift() ?? value) : value);
  // The extra field lists the size before the compressed size, the header the other way round.
  const size = wide(word(bytes, form.sizes + 4));
  const compressed = wide(word(bytes, form.sizes));
  return {
    flags: short(bytes, form.flags),
    method: short(bytes, form.method),
    crc: word(bytes, form.crc),
    compressed,
    size,
    rawName: Buffer.from(bytes.buffer, bytes.byteOffset + form.length, nameEnd - form.length).toString(
      'latin1',
    ),
    offset: central ? wide(word(bytes, 42)) : 0,
  };
}

/** The most bytes that a data descriptor and the signature behind it take. */
export const DESCRIPTOR_LOOK = 28;

/**
 * Length of the data descriptor at the start of `bytes` if it equals the measured values; else 0.
 * It has an optional signature and 32-bit or 64-bit sizes; the form that fits and precedes a record
 * counts.
 */
export function descriptorLength(bytes: Uint8Array, crc: number, compressed: number, size: number): number {
  const view = viewOf(bytes);
  const numberAt = (at: number, wide: boolean) =>
    wide ? Number(view.getBigUint64(at, true)) : view.getUint32(at, true);
  for (const start of signatureOf(bytes) === DESCRIPTOR ? [4, 0] : [0]) {
    for (const wide of [false, true]) {
      const step = wide ? 8 : 4;
      const end = start + 4 + 2 * step;
      if (bytes.length < end || view.getUint32(start, true) !== crc) continue;
      const fold = (value: number) => (wide ? value : value % 2 ** 32);
      const fits =
        numberAt(start + 4, wide) === fold(compressed) && numberAt(start + 4 + step, wide) === fold(size);
      // Every record begins with "PK".
      if (fits && (bytes.length < end + 2 || (bytes[end] === 0x50 && bytes[end + 1] === 0x4b))) return end;
    }
  }
  return 0;
}

/** Counts and place of the central directory, from either form of its end record. */
export function readDirectoryEnd(bytes: Uint8Array): { count: number; size: number; offset: number } {
  const view = viewOf(bytes);
  if (signatureOf(bytes) === ZIP64_END) {
    const at = (k: number) => Number(view.getBigUint64(k, true));
    return { count: at(32), size: at(40), offset: at(48) };
  }
  return {
    count: view.getUint16(10, true),
    size: view.getUint32(12, true),
    offset: view.getUint32(16, true),
  };
}
