// The gateway as a listener for node:http: the limits of every request, then the short way, then Yoga.
import type { RequestListener } from 'node:http';
import { isOwnHost } from '../callers/host.ts';
import type { Config } from '../config.ts';
import { openFastPath } from '../fast/fast-path.ts';
import type { Finished } from '../fast/finished.ts';
import type { KeptAnswers } from '../fast/kept-answers.ts';
import { openVisits } from '../fast/visit.ts';
import { oneAtATime } from '../load/pipelining.ts';
import { limitRequests } from '../load/request-limits.ts';
import type { Logger } from '../log.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { breakOff, guardListener } from '../plugins/guard.ts';
import type { PlainQueries } from '../plugins/use-plain-queries.ts';
import type { Operations } from '../protocol/operations.ts';
import type { Contexts } from './contexts.ts';
import type { Entrance } from './entrance.ts';
import { answerLimits } from './plugins.ts';
import type { ShownErrors } from './shown-errors.ts';
import type { GatewayYoga } from './yoga.ts';

export interface ListenerSources
  extends Pick<Entrance, 'admission' | 'pressure' | 'bodies' | 'connections' | 'slowReaders'> {
  readonly config: Config;
  readonly yoga: GatewayYoga;
  readonly contexts: Pick<Contexts, 'of'>;
  readonly queries: PlainQueries;
  readonly kept: KeptAnswers<Finished>;
  readonly telemetry: Telemetry;
  readonly operations: Operations;
  readonly errors: ShownErrors;
  readonly log: Logger;
  readonly sandbox: boolean;
  readonly pulseMs: number;
}

/** Bytes of a question that is answered on the short way, such as one for 5,000 proteins by their hashes; longer ones are read as they come. */
const MOST_BYTES = 262_144;

/** Makes the listener. */
export function gatewayListener(sources: ListenerSources): RequestListener {
  const { config, yoga, contexts, queries, kept, admission, telemetry, operations, errors, log } = sources;
  const { pressure, bodies, connections, slowReaders } = sources;
  const visits = openVisits({ telemetry, origins: config.CORS_ORIGINS });
  const onFault = (error: unknown) => log.error({ error }, 'request');
  const listener = openFastPath({
    listener: guardListener(yoga),
    yoga,
    queries,
    kept,
    visits,
    admission,
    telemetry,
    documentOf: operations.documentOf,
    origins: config.CORS_ORIGINS,
    isMeant: (host) => !config.keyForLoopback || isOwnHost(host, config.PUBLIC_URL),
    onError: errors.count,
    shown: errors.ofResult,
    contexts,
    limits: answerLimits(config),
    patience: config.REQUEST_TIMEOUT_MS,
    pulseMs: sources.pulseMs,
    onFault,
    always: sources.sandbox ? { 'x-sandbox': '1' } : {},
    maxBytes: Math.min(config.MAX_BODY_BYTES, MOST_BYTES),
    byOrigin: config.CORS_ORIGINS.length > 0,
    proofNeeded: config.proofNeeded,
  });
  const limited = limitRequests(listener, {
    admission,
    pressure,
    bodies,
    connections,
    slowReaders,
    proofNeeded: config.proofNeeded,
    maxBodyBytes: config.MAX_BODY_BYTES,
    onFault(error, res) {
      onFault(error);
      breakOff(res);
    },
  });
  return oneAtATime(limited);
}
