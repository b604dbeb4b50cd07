// A call of the service and its answer, as types: upstream-client.ts makes calls.
import type { Readable } from 'node:stream';
import type { Clock } from '../../async/clock.ts';
import type { CallHooks } from '../../telemetry/upstream-calls.ts';
import type { Operation } from '../operations.ts';
import type { UpstreamSettings } from '../settings.ts';
import type { ServiceConnections } from './connections.ts';
import type { HostLimiters } from './host-limiter.ts';

/** The service for one request: address, the caller's token, request id and time limits. */
export interface Upstream extends CallHooks {
  readonly settings: UpstreamSettings;
  readonly connections: ServiceConnections;
  /** The bearer token for the Batch API; undefined without one. Never sent to the Atlas. */
  readonly token: string | undefined;
  /** Whether the token is the gateway's own, which its callers never see. */
  readonly isGatewayKey?: boolean;
  readonly requestId: string;
  /** The name of the caller in whose share its calls count; calls without one share one. */
  readonly caller?: string | undefined;
  /** The limiters of the process; without them every call is sent at once. */
  readonly limiters?: HostLimiters | undefined;
  readonly signal: AbortSignal | undefined;
  /** The clock of the platform when absent. */
  readonly clock?: Clock | undefined;
  /** Records that this request found absent, and that may exist any moment. */
  readonly absences?: Set<string> | undefined;
}

/** A request to one of the two APIs, or for a file behind a signed URL. */
export interface Call {
  readonly operation: Operation;
  /** The line of the table of limits, where it is another than the operation's own. */
  readonly limits?: Operation;
  /** A file is sent neither a token nor the trace context. */
  readonly api: 'batch' | 'atlas' | 'file';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's prefix, path parameters already encoded; the whole URL of a file. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly number[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly accept?: string;
  /** Maximum bytes of the answer, where the request determines it. */
  readonly maxBytes?: number | undefined;
  /** Whether it may be tried again after a failure that may pass: true for what only reads. */
  readonly isRepeatable: boolean;
}

/** An answer of any status. */
interface Answer<Body> {
  readonly operation: Operation;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

/** An answer that was read to its end. */
export type UpstreamResponse = Answer<Buffer>;

/** An answer whose body has not been read yet. Read or discard the body, always. */
export type StreamedResponse = Answer<Readable>;
