// Writes down what the gateways of all tests log, at every level, and which errors they answer,
// with the secrets that they were given beside it, so that test/global-setup.ts can look for the
// ones in the other when all tests have run.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway } from '../src/gateway.ts';
import { createLogger, type Logger } from '../src/telemetry/log.ts';
import { listSecrets } from './leaks.ts';
import type { SeenCall } from './support.ts';
import { reached } from './transport.ts';

/** Set by test/global-setup.ts. */
const folder = process.env.FOLDATLAS_TEST_RECORD;
const known = new Set<string>();

const write = (kind: 'log' | 'secrets', line: string): void => {
  if (folder !== undefined) appendFileSync(join(folder, `${process.pid}.${kind}`), line);
};

/** A logger of the lowest level. @param also - is given each line too, as JSON */
export const testLogger = (also: (line: string) => void = () => undefined): Logger =>
  createLogger('debug', true, (line) => {
    write('log', line);
    also(line);
  });

/** Remembers the secrets that the sandbox was shown. */
export function recordCall(call: SeenCall): void {
  for (const secret of listSecrets(call)) {
    if (known.has(secret)) continue;
    known.add(secret);
    write('secrets', `${secret}\n`);
  }
}

/** Writes down what a process wrote. */
export const recordOutput = (text: string): void => write('log', text);

/**
 * Whether an answer comes whole and is short enough to be looked at; a stream with two readers
 * would not notice that one left.
 */
const isWhole = ({ headers }: Response): boolean =>
  /json/.test(headers.get('content-type') ?? '') && Number(headers.get('content-length') ?? 0) > 0;

async function recordAnswer(response: Response): Promise<void> {
  const text = await response.text();
  if (!text.includes('"errors"') && !text.includes('"extensions"')) return;
  const answer: unknown = JSON.parse(text);
  if (typeof answer !== 'object' || answer === null) return;
  const { errors, extensions } = answer as { errors?: unknown; extensions?: unknown };
  if (errors !== undefined || extensions !== undefined)
    write('log', `${JSON.stringify({ errors, extensions })}\n`);
}

/**
 * The same gateway as this run reaches it; the errors that it answers are written down, and its
 * metrics when it is closed.
 */
export function recorded(opened: Gateway): Gateway {
  const gateway = reached(opened);
  return {
    ...gateway,
    async fetch(request) {
      const response = await gateway.fetch(request);
      if (folder !== undefined && isWhole(response)) await recordAnswer(response.clone());
      return response;
    },
    async close() {
      if (folder !== undefined) write('log', await gateway.metrics.text());
      await gateway.close();
    },
  };
}
