// Limits the size of an answer and the time its execution may hold the event loop. Checked during
// execution, because the length of upstream lists is not known before.
import { memoize1 } from '@graphql-tools/utils';
import { GraphQLError } from 'graphql';
import type { CollectWindow } from '../async/collect-window.ts';
import { executionTurns, type TurnClock } from '../async/turn-clock.ts';
import { isLazyText } from '../structure/lazy-text.ts';

/** What an answer may hold at most. */
export interface AnswerLimits {
  /** Fields and members of lists. */
  readonly values: number;
  /** Text, in characters; see {@link HELD_WEIGHT}. */
  readonly bytes: number;
}

/** What ends an execution early: every AbortSignal is one. */
interface Ending {
  readonly aborted: boolean;
  readonly reason: unknown;
}

/** A value that is waited for takes as much memory as so many that are there. */
const PENDING_WEIGHT = 20;
/** An error takes as much memory and time, until it is shown, as so many values. */
const ERROR_WEIGHT = 100;
/**
 * Text stored until the answer is written counts this often; lazy text, unpacked on writing, counts
 * once.
 */
const HELD_WEIGHT = 4;
/** Shorter texts are part of what a value counts for. */
const SHORT_TEXT = 256;

const tooLarge = (what: string, most: number, setting: string): GraphQLError =>
  new GraphQLError(
    `The answer has more than ${most} ${what} (${setting}). Select fewer fields or shorter lists, ` +
      'page through them, or use startBulkLookup for many proteins.',
    { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } },
  );

interface RequestCalls {
  readonly signal?: Ending | undefined;
  readonly collecting?: CollectWindow;
}

/** The calls of a request to the service, where its context tells of them. */
function callsOf(context: unknown): RequestCalls {
  const { upstream }: { upstream?: unknown } = Object(context);
  return typeof upstream === 'object' && upstream !== null ? upstream : {};
}

/** Members and characters of a JSON value; the same object is measured once. */
const sizeOfJson = memoize1((json: object) => {
  let values = 0;
  let bytes = 0;
  const open: object[] = [json];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const member of Array.isArray(one) ? one : Object.values(one)) {
      values += 1;
      if (typeof member === 'string') bytes += member.length;
      else if (isLazyText(member)) bytes += member.size;
      else if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return { values, bytes };
});

/** Counts what one answer holds, and gives the event loop its turns. */
export class ExecutionBudget {
  values = 0;
  bytes = 0;
  /** Why nothing more is executed. */
  stopped: { readonly error: unknown } | undefined;
  readonly #limits: AnswerLimits;
  readonly #client: Ending | undefined;
  readonly #turns: TurnClock;
  readonly #collecting: CollectWindow | undefined;
  #nextTurn: Promise<void> | undefined;

  /**
   * @param context - what resolvers are given, whose loaders wait for the whole of it, and whose
   *   signal tells when the client has left, which ends the execution at its next turn
   * @param turns - the time that it shares with others
   */
  constructor(limits: AnswerLimits, context: unknown, turns: TurnClock = executionTurns) {
    const { signal, collecting } = callsOf(context);
    this.#collecting = collecting;
    this.#turns = turns;
    this.#limits = limits;
    this.#client = signal;
  }

  /** Counts values. @throws once the answer is too large, or its execution was ended */
  spend(values: number): void {
    this.values += values;
    if (this.stopped !== undefined) throw this.stopped.error;
    if (this.values > this.#limits.values)
      this.#stop(tooLarge('values', this.#limits.values, 'MAX_ANSWER_VALUES'));
  }
  /** Counts a value that is waited for. */
  spendPending(): void {
    this.spend(PENDING_WEIGHT);
  }
  /** Counts an error that stands in place of a value. */
  spendError(): void {
    this.spend(ERROR_WEIGHT);
  }
  /** Counts what a leaf holds besides being a value. */
  spendLeaf(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > SHORT_TEXT) this.spendBytes(value.length * HELD_WEIGHT);
    } else if (typeof value === 'object' && value !== null) {
      this.spendObject(value);
    }
  }
  /** Counts all values below an object: JSON of the upstream, or a repeated part of the answer. */
  spendObject(value: object): void {
    if (isLazyText(value)) this.spendBytes(value.size);
    else {
      const { values, bytes } = sizeOfJson(value);
      this.spend(values);
      this.spendBytes(bytes);
    }
  }
  spendBytes(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#limits.bytes)
      this.#stop(tooLarge('bytes of text', this.#limits.bytes, 'MAX_ANSWER_BYTES'));
  }
  /** Whether other work is to get its turn. */
  isTurnOver(): boolean {
    return this.#nextTurn !== undefined || !this.#turns.hasTime();
  }
  /**
   * Stops the execution when the client has disconnected: the rest would never be read. After the
   * deadline it goes on, because the client still reads what is there and what a mutation has done;
   * late calls fail by themselves.
   */
  stopIfLeft(): void {
    const { aborted = false, reason } = this.#client ?? {};
    if (aborted && reason instanceof Error && reason.name === 'AbortError')
      this.stopped ??= { error: reason };
  }
  /**
   * Waits for the next turn of the event loop that has time left.
   *
   * @throws what stopped the execution meanwhile
   */
  nextTurn(): Promise<void> {
    if (this.#nextTurn !== undefined) return this.#nextTurn;
    this.#collecting?.hold();
    this.#nextTurn = this.#turns.nextTurn().then(() => {
      this.#collecting?.release();
      this.#nextTurn = undefined;
      this.stopIfLeft();
      if (this.stopped !== undefined) throw this.stopped.error;
    });
    return this.#nextTurn;
  }

  #stop(error: GraphQLError): never {
    this.stopped ??= { error };
    throw this.stopped.error;
  }
}
