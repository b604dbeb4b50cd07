// Spreads the work on requests over turns of the event loop: the system may hand over requests of
// hundreds of connections in one turn, which would all be worked on before anything else. Of the
// connections that wait to be accepted, libuv takes one in each turn, so while connections come,
// the work waits: behind 200 turns of 20 ms, a health check would be seen after four seconds.

import type { IncomingMessage, RequestListener } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterMicrotasks, TurnClock } from '../../async/turn-clock.ts';

export type Turns = ReturnType<typeof openTurns>;

/** Milliseconds of one turn for the beginning of requests. */
const TURN_MS = 10;
/** Milliseconds that work waits at most while each turn brings a connection. */
const MAX_ACCEPT_MS = 40;

/**
 * Opens the turns.
 *
 * @param turnMs - how long requests may keep the event loop at once
 * @param maxAcceptMs - how long they wait for connections to be accepted
 */
export function openTurns(turnMs = TURN_MS, maxAcceptMs = MAX_ACCEPT_MS) {
  const clock = new TurnClock(turnMs);
  const queues = new Map<string, (() => void)[]>();
  let waiting = 0;
  let isWorking = false;
  /** Turns that must bring no connection, this one among them, before work begins. */
  let acceptTurns = 0;

  /** The next work, of the address that was served longest ago. */
  function take(): (() => void) | undefined {
    for (const [address, queue] of queues) {
      queues.delete(address);
      const work = queue.shift();
      if (queue.length > 0) queues.set(address, queue);
      waiting -= 1;
      return work;
    }
    return undefined;
  }

  async function workOff(): Promise<void> {
    isWorking = true;
    let acceptEnd = performance.now() + maxAcceptMs;
    while (waiting > 0) {
      await nextTurn();
      if (acceptTurns > 0 && performance.now() < acceptEnd) continue;
      while (waiting > 0 && clock.hasTime()) {
        take()?.();
        await afterMicrotasks();
      }
      acceptEnd = performance.now() + maxAcceptMs;
    }
    isWorking = false;
  }

  function endTurn(): void {
    acceptTurns -= 1;
    if (acceptTurns > 0) setImmediate(endTurn);
  }

  return {
    /** Says that a connection was accepted in this turn, so that more may wait. */
    accepted(): void {
      if (acceptTurns === 0) setImmediate(endTurn);
      acceptTurns = 2;
    },
    /**
     * Begins the work on a request: at once where this turn has time left, else in a later one.
     * Those that wait are taken in rotation over their clients' addresses.
     */
    begin(address: string, work: () => void) {
      if (waiting === 0 && acceptTurns === 0 && clock.hasTime()) return work();
      const queue = queues.get(address) ?? [];
      if (queue.push(work) === 1) queues.set(address, queue);
      waiting += 1;
      if (!isWorking) void workOff();
    },
  };
}

/** Requests that may wait on one connection for earlier answers; with more it is closed. */
const MAX_WAITING = 100;

/** The same listener, given the next request of a connection when the one before is answered. */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<IncomingMessage['socket'], number>();
  return (req, res) => {
    // A response without its connection is behind another one.
    if (res.socket !== null) return listener(req, res);
    const { socket } = req;
    const many = (waiting.get(socket) ?? 0) + 1;
    if (many > MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, many);
    res.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      setImmediate(listener, req, res);
    });
  };
}
