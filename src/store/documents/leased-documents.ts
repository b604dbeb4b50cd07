// The interface of small documents that processes share: versioned (optimistic locking), with an
// expiry, and with leases, so that one process at a time works on a document.

/** A document as it was read. */
export interface VersionedDocument {
  readonly text: string;
  /** Grows by one with every write. */
  readonly version: number;
}

/** When a document may be written, and how long it stays. */
export interface PutOptions {
  /**
   * Write only when the document has this version (0: does not exist); unconditionally when absent.
   */
  readonly expected?: number;
  /** Milliseconds since the epoch; the document is gone from then on. */
  readonly expiresAt: number;
}

/** A store of documents. Every replica that shares it sees the same. */
export interface LeasedDocumentStore {
  /** Whether other processes may write here too. */
  readonly shared: boolean;
  /** A document; null when there is none, `same` when its version is still `known`. */
  get(key: string, known?: number): Promise<VersionedDocument | null | 'same'>;
  /** Writes a document. @returns its version; null when another one than expected stood there */
  put(key: string, text: string, options: PutOptions): Promise<number | null>;
  remove(key: string): Promise<void>;
  /** Keys of the documents whose key begins so, in order. */
  keys(prefix: string): Promise<string[]>;
  /**
   * Takes or renews a lease. One key always uses the same duration.
   *
   * @returns false when another owner holds it
   */
  claim(key: string, owner: string, milliseconds: number): Promise<boolean>;
  /** Releases a lease of this owner; another owner's stays. */
  release(key: string, owner: string): Promise<void>;
  close(): Promise<void>;
}
