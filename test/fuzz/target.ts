// The shape of a fuzzing target, odd texts, changes of bytes, and the texts that no answer may
// have.
import fc from 'fast-check';
import type { FuzzWorld } from './world.ts';

/** A property of random input; it says what may never happen, whatever is sent. */
export type Target = (world: FuzzWorld) => fc.IAsyncProperty<unknown[]>;

/** A protein that the sandbox holds: insulin. */
export const HASH = '12e9c9e4e2835c302e8ba615115edda3';
export const AUTH = { authorization: 'Bearer fuzz' };

/** Fails a run. */
export const never = (what: string, detail: unknown): never => {
  throw new Error(`${what}: ${JSON.stringify(detail)?.slice(0, 600)}`);
};

/** Every error of ours has a code, and none of them says that we are at fault. */
export function checkErrors(answer: { errors?: { extensions?: Record<string, unknown> }[] }): void {
  for (const error of answer.errors ?? []) {
    const code = error.extensions?.code;
    if (typeof code !== 'string' || code === 'INTERNAL_SERVER_ERROR') never('an error of ours', error);
  }
}

/** Text of any kind of letters, or of none. */
export const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));

/** Changes of bytes: position, what is put there, how many bytes it replaces. */
export const edits: fc.Arbitrary<[number, Uint8Array, number][]> = fc.array(
  fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 6 }), fc.nat(4)),
  { maxLength: 6 },
);
export function edited(bytes: Uint8Array, changes: [number, Uint8Array, number][]): Uint8Array {
  let all = bytes;
  for (const [where, put, replaced] of changes) {
    const at = where % (all.length + 1);
    all = Buffer.concat([all.subarray(0, at), put, all.subarray(at + replaced)]);
  }
  return all;
}
