// Waits until the replicas of a Redis have what was written: a failover then cannot take it back.
import * as z from 'zod';
import { type RedisConnection, StoreError } from '../redis-connection.ts';

/** A write that a failover may still take back. */
export class NotReplicatedError extends StoreError {}

export interface Replication {
  /** Whether the ledger has had replicas: then at least one must have each write. */
  isRequired: boolean;
  /** Whether replicas were seen that the mark does not tell of yet. */
  isNew: boolean;
  /**
   * Writes, and waits for the replicas.
   *
   * @param isWritten - whether there is something to wait for
   * @throws NotReplicatedError, or what `work` throws; it may have been written
   */
  write<T>(work: () => Promise<T>, isWritten?: (result: T) => boolean): Promise<T>;
  /** How many replicas follow the server at present. */
  count(): Promise<number>;
}

/** How long replicas may take. The connection does nothing else meanwhile. */
const WAIT_MS = 400;

/** The role, the offset, and the replicas that are connected. */
const roleReply = z.tuple([z.literal('master'), z.unknown(), z.array(z.unknown())]);

/**
 * @param redis - a connection for these writes only: WAIT blocks it, and covers what was written
 *   over it before
 */
export function createReplication(redis: RedisConnection): Replication {
  let waiting: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function count(): Promise<number> {
    // A server may forbid the question; a gateway that starts warns of it.
    const role = roleReply.safeParse(await redis.send('ROLE').catch(() => undefined));
    return role.success ? role.data[2].length : 0;
  }

  async function wait(): Promise<void> {
    const replicas = await count();
    if (replicas > 0 && !replication.isRequired) {
      replication.isRequired = true;
      replication.isNew = true;
    }
    const needed = Math.max(replicas, replication.isRequired ? 1 : 0);
    if (needed === 0) return;
    const acknowledged = Number(await redis.send('WAIT', String(needed), String(WAIT_MS)));
    if (acknowledged >= needed) return;
    throw new NotReplicatedError(
      `${acknowledged} of ${needed} replicas of the ledger have what was written, and a failover would lose it ` +
        '(docs/operators.md, Failover).',
    );
  }

  /** One wait covers all writes before it, so that those of one moment share it. */
  function waitTogether(): Promise<void> {
    next ??= waiting
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        waiting = wait();
        return waiting;
      });
    return next;
  }

  const replication: Replication = {
    isRequired: false,
    isNew: false,
    async write(work, isWritten = () => true) {
      await redis.connected();
      const { connectionCount } = redis;
      const result = await work();
      if (!isWritten(result)) return result;
      await waitTogether();
      // WAIT knows only what was written over the same connection.
      if (redis.connectionCount === connectionCount) return result;
      throw new NotReplicatedError('The connection to the ledger was lost before its replicas had a write.');
    },
    count,
  };
  return replication;
}
