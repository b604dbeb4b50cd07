// One look at a running gateway: memory and event loop as it tells them in /metrics, its open files
// as the system does. It judges nothing.
import { readdirSync, readlinkSync } from 'node:fs';
import type { ServerProcess } from '../../test/system/server-process.ts';

/** The token for the metrics. */
export const METRICS_TOKEN = 'the-metrics-of-a-soak';

export interface Sample {
  /** Milliseconds since the start. */
  readonly at: number;
  /** Bytes of the process in memory, and those of its JavaScript objects. */
  readonly memory: number;
  readonly heap: number;
  /** Seconds by which the event loop is late: the 99th of a hundred. */
  readonly loop: number;
  /** Seconds by which it was late at most since the sample before. */
  readonly longest: number;
  /** Open sockets and open files; 0 where the system does not tell. */
  readonly sockets: number;
  readonly files: number;
}

const numberIn = (text: string, name: RegExp): number =>
  Number(new RegExp(`^${name.source}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);

function openFiles(pid: number | undefined): { sockets: number; files: number } {
  const found = { sockets: 0, files: 0 };
  if (pid === undefined || process.platform !== 'linux') return found;
  const folder = `/proc/${pid}/fd`;
  for (const name of readdirSync(folder)) {
    try {
      if (readlinkSync(`${folder}/${name}`).startsWith('socket:')) found.sockets += 1;
      else found.files += 1;
    } catch {
      // Closed meanwhile.
    }
  }
  return found;
}

/** Takes a sample. @throws when the gateway does not tell */
export async function takeSample({ url, child }: ServerProcess, at: number): Promise<Sample> {
  const answer = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}`, connection: 'close' },
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  const sample = {
    at,
    memory: numberIn(text, /(?:\w+_)?process_resident_memory_bytes/),
    heap: numberIn(text, /(?:\w+_)?nodejs_heap_size_used_bytes/),
    loop: numberIn(text, /(?:\w+_)?nodejs_eventloop_lag_p99_seconds/),
    longest: numberIn(text, /(?:\w+_)?nodejs_eventloop_lag_max_seconds/),
    ...openFiles(child.pid),
  };
  if (!Number.isFinite(sample.memory))
    throw new Error(`/metrics says ${answer.status}: ${text.slice(0, 300)}`);
  return sample;
}
