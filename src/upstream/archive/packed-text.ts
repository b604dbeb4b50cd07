// The text of a member that stays compressed until it is written: the garbage collector would
// otherwise move the texts of 500 structures around while the answer is written.
import { LRUCache } from 'lru-cache';
import { inflate, unpackMember, type ZipMember } from './zip.ts';

/** Bytes of texts that are unpacked and not yet written, in the process: some 500 structures. */
const MAX_UNPACKED_BYTES = 16 * 1024 ** 2;

/** Texts that were unpacked to be checked, until they are written. */
const unpacked = new LRUCache<PackedText, Uint8Array>({ maxSize: MAX_UNPACKED_BYTES });

const decoder = new TextDecoder();

/** Checked text of a member. */
export class PackedText {
  /** Bytes of the text. */
  readonly size: number;
  readonly #held: Uint8Array;
  readonly #isCompressed: boolean;

  /** @throws ArchiveError */
  constructor(member: ZipMember) {
    const data = unpackMember(member);
    this.size = data.length;
    // A copy: the archive's own buffer is not held.
    this.#held = new Uint8Array(member.packed);
    this.#isCompressed = member.isCompressed;
    if (this.#isCompressed && data.length > 0) unpacked.set(this, data, { size: data.length });
  }
  /** The text in UTF-8, to be written once. Nothing writes to the bytes. */
  bytes(): Uint8Array {
    const data = this.#data();
    unpacked.delete(this);
    return data;
  }
  /** The text before some ASCII, or all of it. */
  before(word: string): string {
    const { buffer, byteOffset, byteLength } = this.#data();
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const end = bytes.indexOf(word, 0, 'latin1');
    return bytes.toString('latin1', 0, end === -1 ? byteLength : end);
  }
  read(): string {
    return decoder.decode(this.#data());
  }
  #data(): Uint8Array {
    if (!this.#isCompressed) return this.#held;
    const data = unpacked.get(this) ?? inflate(this.#held, this.size);
    if (data === undefined) throw new Error('A text that was checked cannot be unpacked.');
    return data;
  }
}
