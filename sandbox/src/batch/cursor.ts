// The cursor of List: where the next page starts, and of what listing. Opaque to clients.
import { createHash } from 'node:crypto';
import { Refusal } from './refusal.ts';
import type { TaskState } from './states.ts';

interface Listing {
  readonly batchId: string;
  readonly state: TaskState | undefined;
}

const toMark = ({ batchId, state }: Listing): string =>
  createHash('sha256')
    .update(`${batchId}/${state ?? ''}`)
    .digest('hex')
    .slice(0, 12);

/** The cursor of the page that starts at task number `from`. */
export function nextCursor(from: number, listing: Listing): string {
  return Buffer.from(`${from}.${toMark(listing)}`).toString('base64url');
}

/**
 * The task number that a page starts at: 0 without a cursor.
 *
 * @throws Refusal 400 when it is no cursor, or one of another batch or status filter
 */
export function readCursor(cursor: string | undefined, listing: Listing): number {
  if (cursor === undefined) return 0;
  const [, from, mark] =
    /^(\d{1,6})\.([0-9a-f]{12})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (from === undefined || mark !== toMark(listing))
    throw new Refusal(
      400,
      'cursor: is none of this batch and status filter; send the cursor of the page before, unchanged, or none',
    );
  return Number(from);
}
