// Reports of upstream calls by the service client, and the record of the calls of one request.

/** A try of a call that begins. */
export interface CallStart {
  readonly operation: string;
  readonly method: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
}

/** How a try ended. */
export interface CallEnd {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Why no answer came, such as ENOTFOUND; absent where the client has disconnected. */
  readonly fault?: string | undefined;
}

/** A try of a call under way. */
export interface StartedCall {
  /** Headers that tell the service of the trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the answer begins, or when it is certain that none comes. */
  end(how: CallEnd): void;
}

/** A failure of a call, as far as it is logged and counted. */
export interface ServiceError {
  /** Without URLs, headers and bodies. */
  readonly message: string;
  readonly failure: {
    readonly code: string;
    readonly operation: string;
    readonly status?: number | undefined;
    /** JSON path in the answer of the service. */
    readonly path?: string | undefined;
    /** The service's own id of the request. */
    readonly requestId?: string | undefined;
  };
}

/** Called by the service client while it works for one request. */
export interface CallHooks {
  /** Called at the start of every try. */
  readonly startCall?: ((call: CallStart) => StartedCall) | undefined;
  /** Called with bytes as bodies are read. */
  readonly onBytes?: ((operation: string, bytes: number) => void) | undefined;
  /** Called with the number of calls that the operation may make, before it runs. */
  readonly onCost?: ((calls: number) => void) | undefined;
  /** Called with a failure that a caller is told of in data, where no error shows it. */
  readonly onFailure?: ((error: ServiceError) => void) | undefined;
  /** Called with cached answers, by kind. */
  readonly onCacheHit?: ((what: string, count: number) => void) | undefined;
}

interface OperationCost {
  calls: number;
  /** From the question to the first byte of the answer, summed over the calls. */
  milliseconds: number;
  bytes: number;
}

/** The upstream cost of a request. A shared call counts for the request that made it. */
export interface RequestCost {
  /** Calls that it may have cost at most, as MAX_QUERY_COST counts them. */
  readonly cost: number;
  readonly calls: number;
  readonly bytes: number;
  readonly milliseconds: number;
  readonly operations: Readonly<Record<string, OperationCost>>;
  /** Answers that were there already, by what they are. */
  readonly cacheHits: Readonly<Record<string, number>>;
}

export interface CallRecord {
  addCall(operation: string, milliseconds: number): void;
  /** For the service client of the request. */
  readonly hooks: Pick<CallHooks, 'onBytes' | 'onCost' | 'onCacheHit'>;
  read(): RequestCost;
}

export function createCallRecord(): CallRecord {
  const operations = new Map<string, OperationCost>();
  const cacheHits = new Map<string, number>();
  let cost = 0;

  function operationCost(operation: string): OperationCost {
    const known = operations.get(operation) ?? { calls: 0, milliseconds: 0, bytes: 0 };
    operations.set(operation, known);
    return known;
  }
  return {
    addCall(operation, milliseconds) {
      const sum = operationCost(operation);
      sum.calls += 1;
      sum.milliseconds += milliseconds;
    },
    hooks: {
      onBytes(operation, bytes) {
        operationCost(operation).bytes += bytes;
      },
      onCost(calls) {
        cost += calls;
      },
      onCacheHit: (what, count) => void cacheHits.set(what, (cacheHits.get(what) ?? 0) + count),
    },
    read() {
      const all = [...operations];
      const sum = (key: keyof OperationCost) => all.reduce((total, [, one]) => total + one[key], 0);
      const rounded = all.map(([name, one]) => [
        name,
        { ...one, milliseconds: Math.round(one.milliseconds) },
      ]);
      return {
        cost,
        calls: sum('calls'),
        bytes: sum('bytes'),
        milliseconds: Math.round(sum('milliseconds')),
        operations: Object.fromEntries(rounded),
        cacheHits: Object.fromEntries(cacheHits),
      };
    },
  };
}
