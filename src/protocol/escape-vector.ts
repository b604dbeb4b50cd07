// Escapes ends of lines in plain ASCII sixteen bytes at a time, which JavaScript cannot: as a WebAssembly function of some thirty
// instructions, written down here by their names. For 15 MB that takes 3 ms where four bytes at a time take 10, and from the first call on.
// It knows nothing of who wants it.

/** How far escaping has come: bytes read and bytes written. */
export interface Progress {
  read: number;
  written: number;
}

// Names that the specification of WebAssembly has for its instructions.
const [LOOP, IF, END, BR, EMPTY] = [0x03, 0x04, 0x0b, 0x0c, 0x40];
const [GET, SET, TEE, SET_GLOBAL, CONST] = [0x20, 0x21, 0x22, 0x24, 0x41];
const [LOAD_BYTE, STORE_TWO, IS_ZERO, IS_EQUAL, TRAILING_ZEROS, ADD] = [0x2d, 0x3b, 0x45, 0x46, 0x68, 0x6a];
const [VECTOR, LOAD, STORE, SPLAT, EQUAL, LESS, OR, MASK] = [0xfd, 0x00, 0x0b, 0x0f, 0x23, 0x25, 0x50, 0x64];
const [I32, V128, FUNCTION] = [0x7f, 0x7b, 0x60];
/** Without alignment, without offset. */
const HERE = [0, 0];

// The function's parameters and variables.
const [FROM, TO, FOUND, SIXTEEN] = [0, 1, 2, 3];
const forward = (variable: number, by: number) => [GET, variable, CONST, by, ADD, SET, variable];
/** Where the sixteen bytes compare with a number of two digits in base 128. */
const compare = (how: number, low: number, ...high: number[]) => [
  ...[GET, SIXTEEN, CONST, low, ...high],
  ...[VECTOR, SPLAT, VECTOR, how],
];

const BODY = [
  // Two kinds of variables, one of each.
  ...[2, 1, I32, 1, V128],
  ...[LOOP, EMPTY],
  ...[GET, TO, GET, FROM, VECTOR, LOAD, ...HERE, TEE, SIXTEEN, VECTOR, STORE, ...HERE],
  // Signed: below the space are control characters and all that is not ASCII.
  ...compare(LESS, 0x20),
  ...[...compare(EQUAL, 0x22), VECTOR, OR],
  ...[...compare(EQUAL, 0xdc, 0), VECTOR, OR],
  ...[VECTOR, MASK, TEE, FOUND, IS_ZERO],
  ...[IF, EMPTY, ...forward(FROM, 16), ...forward(TO, 16), BR, 1, END],
  ...[GET, FOUND, TRAILING_ZEROS, SET, FOUND],
  ...[GET, TO, GET, FOUND, ADD, SET, TO],
  ...[GET, FROM, GET, FOUND, ADD, TEE, FROM, LOAD_BYTE, ...HERE, CONST, 0x0a, IS_EQUAL],
  // "\n" as two bytes, 0x6e5c in base 128.
  ...[IF, EMPTY, GET, TO, CONST, 0xdc, 0xdc, 0x01, STORE_TWO, ...HERE],
  ...[...forward(FROM, 1), ...forward(TO, 2), BR, 1, END],
  END,
  ...[GET, FROM, SET_GLOBAL, 0, GET, TO, END],
];

const nameOf = (name: string) => [name.length, ...Buffer.from(name)];
const section = (id: number, ...content: number[]) => [id, ...sizeOf(content.length), ...content];
/** A length of two digits in base 128. */
const sizeOf = (size: number) => [(size & 0x7f) | 0x80, size >> 7];

const MODULE = Uint8Array.from([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  // (from, to) => to; it, the memory of two pages, and as a global how far it has read.
  ...section(1, 1, FUNCTION, 2, I32, I32, 1, I32),
  ...section(3, 1, 0),
  ...section(5, 1, 0, 2),
  ...section(6, 1, I32, 1, CONST, 0, END),
  ...section(7, 3, ...nameOf('escape'), 0, 0, ...nameOf('memory'), 2, 0, ...nameOf('read'), 3, 0),
  ...section(10, 1, ...sizeOf(BODY.length), ...BODY),
]);

/** Bytes that are read at once, where they stand, and where what is written does: up to twice as many. */
const CHUNK = 32 * 1024;
const OUT = 48 * 1024;
/** Fewer are not worth it. */
const LEAST = 64;

type Escape = (source: Uint8Array, target: Uint8Array, at: Progress) => void;

/** undefined where there is no WebAssembly, or none with vectors. */
function openEscape(): Escape | undefined {
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(MODULE)) return undefined;
  const { escape: run, memory, read } = new WebAssembly.Instance(new WebAssembly.Module(MODULE)).exports;
  if (
    typeof run !== 'function' ||
    !(memory instanceof WebAssembly.Memory) ||
    !(read instanceof WebAssembly.Global)
  )
    return undefined;
  const bytes = new Uint8Array(memory.buffer);
  return (source, target, at) => {
    for (;;) {
      const count = Math.min(CHUNK, source.length - at.read, (target.length - at.written) >> 1);
      if (count < LEAST) return;
      bytes.set(source.subarray(at.read, at.read + count));
      // It stops there.
      bytes.fill(0, count, count + 16);
      const end = Number(run(0, OUT));
      target.set(bytes.subarray(OUT, end), at.written);
      at.read += Number(read.value);
      at.written += end - OUT;
      if (Number(read.value) < count) return;
    }
  };
}

let opened: { readonly escape: Escape | undefined } | undefined;

/** Escapes most of a text, if it can: it may stop before the end, and does before what is neither plain nor the end of a line. */
export function escapeVector(source: Uint8Array, target: Uint8Array, at: Progress): void {
  opened ??= { escape: openEscape() };
  opened.escape?.(source, target, at);
}
