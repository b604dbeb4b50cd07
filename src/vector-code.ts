// What small WebAssembly functions over sixteen bytes at a time are written down with: names of instructions, and the module around a function.
// It knows nothing of what they look for.

// Names that the specification of WebAssembly has for its instructions.
export const [LOOP, IF, END, BR, RETURN, EMPTY] = [0x03, 0x04, 0x0b, 0x0c, 0x0f, 0x40];
export const [GET, SET, TEE, SET_GLOBAL, CONST] = [0x20, 0x21, 0x22, 0x24, 0x41];
export const [LOAD_BYTE, STORE_TWO, IS_ZERO, IS_EQUAL, IS_LESS] = [0x2d, 0x3b, 0x45, 0x46, 0x49];
export const [TRAILING_ZEROS, ADD, SUBTRACT, AND] = [0x68, 0x6a, 0x6b, 0x71];
export const [VECTOR, LOAD, STORE, SPLAT, EQUAL, LESS, OR, MASK] = [
  0xfd, 0x00, 0x0b, 0x0f, 0x23, 0x25, 0x50, 0x64,
];
export const [I32, V128] = [0x7f, 0x7b];
const FUNCTION = 0x60;
/** Without alignment, without offset. */
export const HERE = [0, 0];

export const forward = (variable: number, by: number) => [GET, variable, CONST, by, ADD, SET, variable];
/** Sixteen times the same byte. @param byte - as constants have it: in base 128, with a sign of its own */
export const splat = (byte: readonly number[]) => [CONST, ...byte, VECTOR, SPLAT];

const nameOf = (name: string) => [name.length, ...Buffer.from(name)];
/** A length of two digits in base 128. */
const sizeOf = (size: number) => [(size & 0x7f) | 0x80, size >> 7];
const section = (id: number, ...content: number[]) => [id, ...sizeOf(content.length), ...content];

/**
 * A module with one function `run` from two numbers to a third, its `memory`, and a number `read` that the function may set.
 *
 * @param body - kinds of variables, then instructions
 * @param pages - of memory, 64 KB each
 */
export const moduleOf = (body: readonly number[], pages: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, FUNCTION, 2, I32, I32, 1, I32),
    ...section(3, 1, 0),
    ...section(5, 1, 0, pages),
    ...section(6, 1, I32, 1, CONST, 0, END),
    ...section(7, 3, ...nameOf('run'), 0, 0, ...nameOf('memory'), 2, 0, ...nameOf('read'), 3, 0),
    ...section(10, 1, ...sizeOf(body.length), ...body),
  ]);

export interface Runnable {
  run(one: number, other: number): number;
  readonly memory: Uint8Array<ArrayBuffer>;
  /** What the function has set. */
  read(): number;
}

/** Makes a module run; undefined where there is no WebAssembly, or none with vectors. */
export function openModule(module: Uint8Array<ArrayBuffer>): Runnable | undefined {
  if (typeof WebAssembly === 'undefined' || !WebAssembly.validate(module)) return undefined;
  const { run, memory, read } = new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
  if (
    typeof run !== 'function' ||
    !(memory instanceof WebAssembly.Memory) ||
    !(read instanceof WebAssembly.Global)
  )
    return undefined;
  return {
    run: (one, other) => Number(run(one, other)),
    memory: new Uint8Array(memory.buffer),
    read: () => Number(read.value),
  };
}
