// Escapes ends of lines in plain ASCII sixteen bytes at a time, which JavaScript cannot: as a WebAssembly function of some thirty
// instructions, written down here by their names. For 15 MB that takes 3 ms where four bytes at a time take 10, and from the first call on.
// It knows nothing of who wants it.
import {
  ADD,
  BR,
  CONST,
  EMPTY,
  END,
  EQUAL,
  forward,
  GET,
  HERE,
  I32,
  IF,
  IS_EQUAL,
  IS_ZERO,
  LESS,
  LOAD,
  LOAD_BYTE,
  LOOP,
  MASK,
  moduleOf,
  OR,
  openModule,
  SET,
  SET_GLOBAL,
  STORE,
  STORE_TWO,
  splat,
  TEE,
  TRAILING_ZEROS,
  V128,
  VECTOR,
} from '../vector-code.ts';

/** How far escaping has come: bytes read and bytes written. */
export interface Progress {
  read: number;
  written: number;
}

// The function's parameters and variables.
const [FROM, TO, FOUND, SIXTEEN] = [0, 1, 2, 3];
/** Where the sixteen bytes compare with a byte, as constants have it. */
const compare = (how: number, ...byte: number[]) => [GET, SIXTEEN, ...splat(byte), VECTOR, how];

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

/** (from, to) => to; how far it has read is the number that it sets. */
const MODULE = moduleOf(BODY, 2);

/** Bytes that are read at once, where they stand, and where what is written does: up to twice as many. */
const CHUNK = 32 * 1024;
const OUT = 48 * 1024;
/** Fewer are not worth it. */
const LEAST = 64;

type Escape = (source: Uint8Array, target: Uint8Array, at: Progress) => void;

/** undefined where there is no WebAssembly, or none with vectors. */
function openEscape(): Escape | undefined {
  const opened = openModule(MODULE);
  if (opened === undefined) return undefined;
  const { run, memory: bytes, read } = opened;
  return (source, target, at) => {
    for (;;) {
      const count = Math.min(CHUNK, source.length - at.read, (target.length - at.written) >> 1);
      if (count < LEAST) return;
      bytes.set(source.subarray(at.read, at.read + count));
      // It stops there.
      bytes.fill(0, count, count + 16);
      const end = run(0, OUT);
      const done = read();
      target.set(bytes.subarray(OUT, end), at.written);
      at.read += done;
      at.written += end - OUT;
      if (done < count) return;
    }
  };
}

let opened: { readonly escape: Escape | undefined } | undefined;

/** Escapes most of a text, if it can: it may stop before the end, and does before what is neither plain nor the end of a line. */
export function escapeVector(source: Uint8Array, target: Uint8Array, at: Progress): void {
  opened ??= { escape: openEscape() };
  opened.escape?.(source, target, at);
}
