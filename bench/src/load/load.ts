// Load in a closed circle: so many connections, each asking again as soon as it was answered. It
// judges answers by status and by the absence of errors; values are compared before load begins.
import { percentile } from '../report/statistics.ts';
import { type AskOptions, type Connection, openConnection, type Taken } from './connection.ts';

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  /** Ends at whichever comes first. */
  readonly seconds: number;
  readonly requests?: number;
  /** The next question. */
  readonly next: () => Buffer;
  /** Whether bodies are searched for errors. What is always the same has been compared once. */
  readonly search: boolean;
  readonly status?: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly firstP50: number;
}

const ERRORS = '"errors":';

/** @throws Error when an answer is none */
function examine({ status, body, found }: Taken, { status: wanted = 200 }: LoadOptions): void {
  if (status !== wanted || found !== null)
    throw new Error(`answered ${status}: ${(found ?? body).toString('utf8', 0, 600)}`);
}

/** Loads for a while. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const connections: Connection[] = await Promise.all(
    Array.from({ length: options.connections }, () => openConnection(options.url)),
  );
  const totals: number[] = [];
  const firsts: number[] = [];
  let bytes = 0;
  let begun = 0;
  const since = performance.now();
  const end = since + options.seconds * 1000;
  const most = options.requests ?? Number.POSITIVE_INFINITY;
  const how: AskOptions = {
    keep: options.status !== undefined,
    ...(options.search ? { look: ERRORS } : {}),
  };
  const goOn = async (connection: Connection): Promise<void> => {
    while (begun < most && performance.now() < end) {
      begun += 1;
      const taken = await connection.ask(options.next(), how);
      examine(taken, options);
      totals.push(taken.totalMs);
      firsts.push(taken.firstMs);
      bytes += taken.bytes;
    }
  };
  try {
    await Promise.all(connections.map(goOn));
  } finally {
    for (const connection of connections) connection.close();
  }
  return {
    answers: totals.length,
    seconds: (performance.now() - since) / 1000,
    bytes,
    p50: percentile(totals, 0.5),
    p99: percentile(totals, 0.99),
    firstP50: percentile(firsts, 0.5),
  };
}
