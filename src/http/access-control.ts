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
import type { ConnectionMetrics } from './limits/http-server.ts';
import { createLoadShedder } from './limits/load-shedding.ts';
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
  const callers = createAuthenticator(config, secret, limit, log);
  const admission = openAdmission(config, secret, limit, callers, log);
  const pressure = createLoadShedder(config);
  let openConnections = 0;
  const connections: ConnectionMetrics = {
    opened: () => {
      openConnections += 1;
    },
    closed: () => {
      openConnections -= 1;
    },
    cut: (reason) => metrics.cutOff.inc({ reason }),
  };
  return {
    callers,
    admission,
    pressure,
    connections,
    /**
     * Counts an operation that came by no HTTP among the requests in flight.
     *
     * @returns ends it; null when there is no room for it
     */
    enter: pressure.enter,
    /** What is taken at present, for metrics. */
    load: (): Load => ({
      connections: openConnections,
      places: pressure.inFlight,
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
      await rates.close();
    },
  };
}
