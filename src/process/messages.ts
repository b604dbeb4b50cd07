// Messages between the primary and its workers. Other messages on the channel are ignored.
import { z } from 'zod';

/** As prom-client writes and adds them up. */
const metricValues = z.array(z.custom<object>((value) => typeof value === 'object' && value !== null));

const message = z.discriminatedUnion('foldatlas', [
  /** A worker to the primary: it takes requests at this address. */
  z.object({ foldatlas: z.literal('listening'), url: z.string(), localUrl: z.string() }),
  /** A worker to the primary: send me the metrics of all workers. */
  z.object({ foldatlas: z.literal('all-metrics'), id: z.number() }),
  /** The primary's answer. */
  z.object({ foldatlas: z.literal('metrics-text'), id: z.number(), text: z.string() }),
  /** The primary to a worker: what have you counted? And the answer. */
  z.object({ foldatlas: z.literal('own-metrics'), id: z.number() }),
  z.object({ foldatlas: z.literal('metrics-values'), id: z.number(), values: metricValues }),
  /** The primary to a worker. */
  z.object({ foldatlas: z.literal('stop') }),
  z.object({ foldatlas: z.literal('reload') }),
]);

export type Message = z.output<typeof message>;

/** A message of ours; undefined for anything else. */
export function readMessage(raw: unknown): Message | undefined {
  const parsed = message.safeParse(raw);
  return parsed.success ? parsed.data : undefined;
}
