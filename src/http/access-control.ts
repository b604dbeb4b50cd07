// Access control: API-key and JWT authentication, per-caller rate limits, load shedding.
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { Config } from '../config.ts';
import { openRates } from '../store/rate-limit/token-bucket.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Load, Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createAuthenticator } from './auth/authenticate.ts';
import { overloaded } from './errors.ts';
import { openRequestBodies, openSlowReaders } from './limits/buffered-bytes.ts';
import { createConnectionLimits } from './limits/http-server.ts';
import { createLoadShedder, createShares, openTurns } from './limits/load-shedding.ts';
import { openRateLimit, rateLimitError } from './limits/rate-limit.ts';
import { openAdmission, type RefusalReason } from './limits/request-limits.ts';

export type AccessControl = ReturnType<typeof createAccessControl>;

export function createAccessControl(
  config: Config,
  log: Logger,
  telemetry: Telemetry,
  metrics: Metrics,
  secret: string,
) {
  const onRatesError = (error: unknown) => telemetry.storeFailed('rates', error);
  const rates = openRates(config.STORE_URL, onRatesError);
  const limit = openRateLimit({ rates, onError: onRatesError });
  const callers = createAuthenticator(config, secret, limit, (what, error) =>
    log.error({ error: String(error) }, what),
  );
  const admission = openAdmission(config, secret, limit, callers, log);
  const pressure = createLoadShedder(config);
  const buffered = createShares(config.MAX_BUFFERED_BYTES);
  const turns = openTurns();
  const bodies = openRequestBodies({
    maxBytes: config.MAX_BODY_BYTES,
    maxUnfinished: config.MAX_UNFINISHED_BODIES,
    timeoutMs: config.REQUEST_BODY_SECONDS * 1000,
    buffered,
    turns,
  });
  const slowReaders = openSlowReaders(config.SLOW_READER_SECONDS * 1000, buffered, (reason) =>
    metrics.cutOff.inc({ reason }),
  );
  const connections = createConnectionLimits({
    maxConnections: config.MAX_CONNECTIONS,
    isShared: config.TRUST_PROXY === 0,
    onCut: () => metrics.cutOff.inc({ reason: 'too_many_connections' }),
    onAccepted: turns.accepted,
  });
  return {
    callers,
    admission,
    pressure,
    bodies,
    slowReaders,
    connections,
    turns,
    /**
     * Takes a place for an operation that came by no HTTP.
     *
     * @returns gives it back; null when there is none
     */
    enter: (incoming: IncomingMessage) => pressure.enter(admission.addressOf(incoming)),
    /** Does work for what came by no HTTP in a turn of the event loop that has time. */
    inTurn: (incoming: IncomingMessage, work: () => void) => turns.begin(admission.addressOf(incoming), work),
    /**
     * Watches how a socket is read, as connections of HTTP are.
     *
     * @returns counts the bytes of its messages
     */
    watchSocket(incoming: IncomingMessage) {
      const address = admission.addressOf(incoming);
      slowReaders.watch(incoming.socket, address);
      return {
        take(bytes: number): boolean {
          const isTaken = buffered.take(address, bytes);
          if (!isTaken) metrics.refused.inc({ reason: 'buffered_bytes' });
          return isTaken;
        },
        give: (bytes: number) => buffered.give(address, bytes),
      };
    },
    /** What is taken at present, for metrics. */
    load: (): Load => ({
      connections: connections.open,
      places: pressure.underWay,
      unfinishedBodies: bodies.unfinished,
      bufferedBytes: buffered.used,
    }),
    /** Whether an operation that came by no HTTP may begin. @returns the reason why not */
    async admit(request: Request, incoming: IncomingMessage): Promise<GraphQLError | null> {
      admission.note(request, incoming);
      const refuse = (reason: RefusalReason, refusal: GraphQLError): GraphQLError => {
        metrics.refused.inc({ reason });
        return refusal;
      };
      if (pressure.isLate) return refuse('busy', overloaded());
      const verdict = await admission.spend(request);
      return verdict === null || verdict.allowed ? null : refuse('rate', rateLimitError(verdict));
    },
    /** Checks a request of another transport. @returns the refusal, or null */
    async identify(request: Request, incoming: IncomingMessage): Promise<GraphQLError | null> {
      admission.note(request, incoming);
      return callers.refusalOf(request);
    },
    async close() {
      callers.close();
      pressure.close();
      slowReaders.close();
      await rates.close();
    },
  };
}
