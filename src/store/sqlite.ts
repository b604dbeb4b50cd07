// SQLite: Node's own, which Node 22.13 and newer have, else a package with the same API.
import { createRequire } from 'node:module';
import type * as sqlite from '@photostructure/sqlite';

export type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

type Sqlite = Pick<typeof sqlite, 'DatabaseSync'>;

/** The package is large, so an installation on a Node with an SQLite of its own has none. */
function loadPackage(): Sqlite {
  try {
    return createRequire(import.meta.url)('@photostructure/sqlite');
  } catch (cause) {
    throw new Error(
      `Node ${process.versions.node} has no SQLite. Use Node 22.13 or newer, or install a package that has ` +
        'it: npm install @photostructure/sqlite@1.2.1',
      { cause },
    );
  }
}

/**
 * Loads it on first use: a gateway over Redis needs none. @throws Error that says what to install
 */
const loadSqlite = (): Sqlite =>
  (process.getBuiltinModule('node:sqlite') as Sqlite | undefined) ?? loadPackage();

/** Opens a database. @param file - a path, `:memory:`, or a URI that begins with `file:` */
export const openSqlite = (
  file: string,
  options: { readonly readOnly?: boolean } = {},
): sqlite.DatabaseSyncInstance => new (loadSqlite().DatabaseSync)(file, options);
