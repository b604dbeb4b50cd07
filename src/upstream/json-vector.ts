// Finds where objects and lists end in JSON that is there as bytes, sixteen of them at a time, which JavaScript cannot: as a WebAssembly function
// of some sixty instructions, written down here by their names. That takes a third of the time. It knows nothing of what the JSON says.
import {
  ADD,
  AND,
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
  IS_LESS,
  IS_ZERO,
  LOAD,
  LOAD_BYTE,
  LOOP,
  MASK,
  moduleOf,
  OR,
  openModule,
  RETURN,
  type Runnable,
  SET,
  SUBTRACT,
  splat,
  TEE,
  TRAILING_ZEROS,
  V128,
  VECTOR,
} from '../vector-code.ts';
import { afterValue, BRACKET_BIT, OPEN } from './json-scan.ts';

// Signs as constants have them: in base 128, with a sign of their own.
const [QUOTE, BACKSLASH, OPENING, CLOSING, BIT] = [[0x22], [0xdc, 0], [0xfb, 0], [0xfd, 0], [BRACKET_BIT]];

// The function's parameters and variables.
const [AT, STOP, FOUND, DEPTH, BYTE, SIXTEEN] = [0, 1, 2, 3, 4, 5];
const equal = (sign: readonly number[]) => [GET, SIXTEEN, ...splat(sign), VECTOR, EQUAL];
const loadSixteen = [GET, AT, VECTOR, LOAD, ...HERE, SET, SIXTEEN];
/** Goes to the first of sixteen bytes that compared, or on to the next sixteen: to the label before the last. */
const toFound = [
  ...[VECTOR, MASK, TEE, FOUND, IS_ZERO, IF, EMPTY, ...forward(AT, 16), BR, 1, END],
  ...[GET, FOUND, TRAILING_ZEROS, GET, AT, ADD, TEE, AT, LOAD_BYTE, ...HERE],
];
const giveUpAtStop = [GET, AT, GET, STOP, IS_LESS, IS_ZERO, IF, EMPTY, CONST, 0, RETURN, END];

const BODY = [
  // Two kinds of variables.
  ...[2, 3, I32, 1, V128],
  ...[LOOP, EMPTY, ...giveUpAtStop, ...loadSixteen],
  ...equal(QUOTE),
  // Both opening brackets become one, and both closing ones.
  ...[GET, SIXTEEN, ...splat(BIT), VECTOR, OR, SET, SIXTEEN],
  ...[...equal(OPENING), VECTOR, OR, ...equal(CLOSING), VECTOR, OR],
  ...[...toFound, SET, BYTE, ...forward(AT, 1)],
  ...[GET, BYTE, CONST, ...QUOTE, IS_EQUAL, IF, EMPTY],
  // A string, to its end.
  ...[LOOP, EMPTY, ...giveUpAtStop, ...loadSixteen],
  ...[...equal(QUOTE), ...equal(BACKSLASH), VECTOR, OR, ...toFound],
  ...[CONST, ...BACKSLASH, IS_EQUAL, IF, EMPTY, ...forward(AT, 2), BR, 1, END, END],
  ...[...forward(AT, 1), BR, 1, END],
  // Of opening brackets alone the second bit is 1.
  ...[GET, BYTE, CONST, 2, AND, CONST, 1, SUBTRACT, GET, DEPTH, ADD, TEE, DEPTH, IS_ZERO],
  ...[IF, EMPTY, GET, AT, RETURN, END, BR, 0, END],
  ...[CONST, 0, END],
];

/** (at, stop) => where it has ended, or 0. */
const MODULE = moduleOf(BODY, 17);

/** Bytes that fit in, and fewest that are worth it. */
const MOST = 1024 ** 2;
const LEAST = 1024;

/** Where a value that begins at `from` has ended; -1 when it does not. */
export type AfterValue = (from: number) => number;

let opened: { readonly scanner: Runnable | undefined } | undefined;
/** Whose bytes are in the memory of the scanner. */
let holder: AfterValue | undefined;

/** Looks for the ends of values in bytes, which stay as they are for as long as it is used. */
export function valuesIn(bytes: Buffer): AfterValue {
  const slow: AfterValue = (from) => afterValue(bytes, from);
  if (bytes.length > MOST || bytes.length < LEAST) return slow;
  opened ??= { scanner: openModule(MODULE) };
  const { scanner } = opened;
  if (scanner === undefined) return slow;
  const { run, memory } = scanner;
  const fast: AfterValue = (from) => {
    if (((bytes[from] ?? 0) | BRACKET_BIT) !== OPEN) return slow(from);
    if (holder !== fast) {
      memory.set(bytes);
      // It stops there.
      memory.fill(0, bytes.length, bytes.length + 16);
      holder = fast;
    }
    return run(from, bytes.length) || -1;
  };
  return fast;
}
