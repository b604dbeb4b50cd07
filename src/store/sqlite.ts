// SQLite: Node's own where it can do what is needed, else a package with the same API (Node 20).
import type * as sqlite from '@photostructure/sqlite';

export type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

type Sqlite = Pick<typeof sqlite, 'DatabaseSync'>;

const builtin = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
const isEnough = builtin !== undefined && 'isTransaction' in builtin.DatabaseSync.prototype;

export const { DatabaseSync }: Sqlite = isEnough ? builtin : await import('@photostructure/sqlite');
