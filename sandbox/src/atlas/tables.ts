// The tables of a universe file.
import type { Database } from '../database.ts';

/**
 * Raised whenever the tables or the rules of growth change; a file of another format is grown anew.
 */
export const UNIVERSE_FORMAT = 3;

/** Creates the tables of an empty universe. */
export function createTables(database: Database): void {
  database.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE protein (
      id INTEGER PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      sequence TEXT NOT NULL,
      source TEXT NOT NULL,
      accession TEXT NOT NULL,
      uniref TEXT NOT NULL,
      header TEXT NOT NULL,
      fold TEXT NOT NULL,
      withheld INTEGER NOT NULL,
      reviewed INTEGER NOT NULL,
      cluster INTEGER,
      domains TEXT NOT NULL
    );
    CREATE INDEX protein_cluster ON protein (cluster);
    CREATE TABLE cluster (
      id INTEGER PRIMARY KEY,
      representative TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      size INTEGER NOT NULL,
      pct_characterized REAL NOT NULL,
      mean_domain_coverage REAL NOT NULL,
      pfam TEXT NOT NULL,
      taxon_rank TEXT NOT NULL,
      taxon_name TEXT NOT NULL,
      phyla TEXT NOT NULL
    );
    CREATE TABLE uniprot (
      accession TEXT PRIMARY KEY,
      entry_name TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      gene TEXT,
      organism TEXT NOT NULL,
      function TEXT,
      sequence TEXT NOT NULL,
      hash TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE postings (part TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
  `);
}
