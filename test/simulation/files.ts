// Stands in for node:fs in the witness of a ledger: files end with the process that has them open,
// and what it syncs is on the disk.
import * as real from 'node:fs';
import { type DiskUser, presentOpener } from './sqlite.ts';

export * from 'node:fs';

interface OpenFile {
  readonly user: DiskUser;
  readonly end: () => void;
}
const openFiles = new Map<number, OpenFile>();

/** Opens a file of the process that opens it. @public */
export function openSync(...[path, flags, mode]: Parameters<typeof real.openSync>): number {
  const descriptor = real.openSync(path, flags, mode);
  const user = presentOpener();
  if (user === undefined) return descriptor;
  const end = () => {
    openFiles.delete(descriptor);
    real.closeSync(descriptor);
  };
  openFiles.set(descriptor, { user, end });
  user.open.add(end);
  return descriptor;
}

/** @public */
export function closeSync(descriptor: number): void {
  const file = openFiles.get(descriptor);
  file?.user.open.delete(file.end);
  if (file === undefined) real.closeSync(descriptor);
  else file.end();
}

/** @public */
export function fdatasyncSync(descriptor: number): void {
  openFiles.get(descriptor)?.user.onSync(['witness']);
}
