// The control routes, which exist only when they were asked for (SANDBOX_CONTROL=1): faults, clock,
// queue, reset. They are ours and no part of the service.
import { Hono } from 'hono';
import { z } from 'zod';
import type { Queue } from './batch/queue.ts';
import { Refusal } from './batch/refusal.ts';
import { parseBody, read } from './batch/request/reading.ts';
import type { BatchStore } from './batch/store.ts';
import { type Clock, ManualClock } from './clock.ts';
import { type Faults, faultRule } from './faults.ts';

interface ControlParts {
  readonly faults: Faults;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly store: BatchStore;
}

const clockBody = z.strictObject({ advance_ms: z.int().min(0) });
const queueBody = z.strictObject({ hold: z.boolean() });

/** Every route under /control. Answers are plain JSON; a bad body is a 400 with `message`. */
export function createControl({ faults, clock, queue, store }: ControlParts): Hono {
  const app = new Hono();
  const state = () => ({
    now: new Date(clock.now()).toISOString(),
    clock: clock instanceof ManualClock ? 'manual' : 'system',
    faults: faults.all(),
    batches: store.batches().map(({ batchId, submittedAt, brokenOff }) => ({
      batch_id: batchId,
      submitted_at: new Date(submittedAt).toISOString(),
      broken_off: brokenOff,
      counts: store.counts(batchId),
    })),
  });

  app.get('/control', (c) => c.json(state()));
  app.post('/control/faults', async (c) => {
    faults.add(read(faultRule, parseBody(await c.req.text())));
    return c.json({ faults: faults.all() });
  });
  app.delete('/control/faults', (c) => {
    faults.clear();
    return c.json({ faults: [] });
  });
  app.post('/control/clock', async (c) => {
    const { advance_ms } = read(clockBody, parseBody(await c.req.text()));
    if (!(clock instanceof ManualClock))
      throw new Refusal(409, 'The clock runs by itself; start with a manual one.');
    clock.advance(advance_ms);
    await queue.settled();
    return c.json({ now: new Date(clock.now()).toISOString() });
  });
  app.post('/control/queue', async (c) => {
    const { hold } = read(queueBody, parseBody(await c.req.text()));
    queue.hold(hold);
    return c.json({ hold });
  });
  app.post('/control/reset', (c) => {
    faults.clear();
    queue.clear();
    queue.hold(false);
    store.clear();
    return c.json(state());
  });
  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json({ message: error.message }, error.status);
    throw error;
  });
  return app;
}
