// Small documents that processes share: versioned, so that of two writers one notices; with an age limit; and leases, so
// that work on one of them is done by one process at a time. What a store has to offer; it must not know what they hold.

/** A document as it was read. */
export interface VersionedDocument {
  readonly text: string;
  /** Grows by one with every write. */
  readonly version: number;
}

/** When a document may be written, and how long it stays. */
export interface PutOptions {
  /** Only when this version stands there now (0: none stands there); whatever stands there when absent. */
  readonly expected?: number;
  /** Milliseconds since the epoch; the document is gone from then on. */
  readonly expiresAt: number;
}

/** Where documents are kept. Every replica that shares the store sees the same. */
export interface LeasedDocumentStore {
  /** Whether other processes may write here too. */
  readonly shared: boolean;
  /** A document; null when there is none, `same` when it still has the version that the caller knows. */
  get(key: string, known?: number): Promise<VersionedDocument | null | 'same'>;
  /** Writes a document. @returns its version; null when another one than expected stood there */
  put(key: string, text: string, options: PutOptions): Promise<number | null>;
  remove(key: string): Promise<void>;
  /** Keys of the documents whose key begins so, in order. */
  keys(prefix: string): Promise<string[]>;
  /** Takes or renews a lease for some milliseconds, for one key always as many. @returns false when somebody else holds it */
  claim(key: string, owner: string, milliseconds: number): Promise<boolean>;
  /** Gives a lease back; somebody else's is left alone. */
  release(key: string, owner: string): Promise<void>;
  close(): Promise<void>;
}
