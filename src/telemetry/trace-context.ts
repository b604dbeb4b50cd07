// Spans and their ids as W3C Trace Context writes them. Spans have ids for logs, for the service
// and for the client also where they are not recorded.
import { randomUUID } from 'node:crypto';
import type { Attributes, SpanContext } from '@opentelemetry/api';

/** `traceId` for all that one request causes anywhere, `spanId` of this span, in hexadecimal. */
export type TraceContext = Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>;

export interface TraceSpan {
  readonly context: TraceContext;
  /** Absent when the span is not recorded. */
  readonly end?: (what: TraceSpanEnd) => void;
}

export interface TraceSpanEnd {
  readonly name: string;
  /** Without URLs, tokens and variables. */
  readonly attributes: Attributes;
  /** Whether it failed by a fault of ours or of the service. */
  readonly hasFailed: boolean;
}

export interface Tracing {
  /** @param kind - SERVER for a request that came in, CLIENT for a call that goes out */
  begin(kind: 'SERVER' | 'CLIENT', name: string, parent: TraceContext | undefined): TraceSpan;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/**
 * 32 hexadecimal digits. Node takes random bytes for many UUIDs at once; `randomBytes` asks the
 * system for them each time.
 */
const randomHex = (): string => randomUUID().replaceAll('-', '');

/** Spans that are not recorded. */
export const noopTracing: Tracing = {
  begin(_kind, _name, parent) {
    const random = randomHex();
    const { traceId, traceFlags } = parent ?? { traceId: random, traceFlags: 0 };
    return { context: { traceId, spanId: random.slice(16), traceFlags } };
  },
  close: async () => undefined,
};

/** Whether the tracer that began the trace records it: a bit of the flags. */
const SAMPLED = 1;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** As many characters as the standard says to pass on. */
const MAX_TRACESTATE_CHARACTERS = 512;

/**
 * Reads a `traceparent` header.
 *
 * @returns undefined for an invalid one, which the standard says to ignore
 */
export function readTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED };
}

/** Reads a `tracestate` header, which is passed on as it is; undefined for an invalid one. */
export const readTracestate = (header: string | undefined): string | undefined =>
  header !== undefined && header.length <= MAX_TRACESTATE_CHARACTERS && /^[\x20-\x7e]+$/.test(header)
    ? header
    : undefined;

export const traceparent = ({ traceId, spanId, traceFlags }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;
