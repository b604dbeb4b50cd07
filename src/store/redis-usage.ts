// What Redis or Valkey says of its memory (INFO memory).
import type { StoreUsage } from './ledger/ledger.ts';

/** Reads `used_memory:1024`; undefined where the line is missing. */
const fieldOf = (info: string, name: string): string | undefined =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1);

/** @throws Error when the answer has no numbers in it */
export function readUsage(info: string): StoreUsage {
  const usedBytes = Number(fieldOf(info, 'used_memory'));
  const limit = Number(fieldOf(info, 'maxmemory') ?? 0);
  if (!Number.isFinite(usedBytes) || !Number.isFinite(limit))
    throw new Error('The store does not say how much memory it uses.');
  const policy = fieldOf(info, 'maxmemory_policy') ?? 'noeviction';
  return { usedBytes, limitBytes: limit === 0 ? null : limit, evicts: policy !== 'noeviction' && limit > 0 };
}
