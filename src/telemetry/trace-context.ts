// W3C Trace Context: reads and writes `traceparent` and creates span ids.
import { randomFillSync } from 'node:crypto';

export interface TraceContext {
  /** 32 hexadecimal characters, the same for everything that one question causes anywhere. */
  readonly traceId: string;
  /** 16 hexadecimal characters: this step of it. */
  readonly spanId: string;
  /** Whether the tracer that began the trace records it. */
  readonly sampled: boolean;
}

const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header.
 *
 * @returns undefined for an invalid one, which the standard says to ignore
 */
export function readTraceparent(header: string | null): TraceContext | undefined {
  if (header === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = PATTERN.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** As the header is written. */
export const traceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

const IDS_BYTES = 24;
const IDS_LETTERS = 2 * IDS_BYTES;
/** Asking for random bytes, and writing them out, costs much the same for few and for many. */
const bytes = Buffer.alloc(IDS_BYTES * 128);
let letters = '';
let used = 0;

function randomHex(): string {
  if (used === letters.length) {
    letters = randomFillSync(bytes).toString('hex');
    used = 0;
  }
  used += IDS_LETTERS;
  return letters.slice(used - IDS_LETTERS, used);
}

/** The next step of a trace; the first of a new one without a parent. */
export function childSpanContext(parent: TraceContext | undefined): TraceContext {
  const random = randomHex();
  return {
    traceId: parent?.traceId ?? random.slice(16),
    spanId: random.slice(0, 16),
    sampled: parent?.sampled ?? false,
  };
}
