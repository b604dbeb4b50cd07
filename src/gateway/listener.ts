// The gateway as a listener for node:http: the short way in front of Yoga's. It decides nothing.
import { isOwnHost } from '../callers/host.ts';
import type { Config } from '../config.ts';
import { openFastPath } from '../fast/fast-path.ts';
import type { Finished } from '../fast/finished.ts';
import type { KeptAnswers } from '../fast/kept-answers.ts';
import { keptFiles } from '../fast/kept-files.ts';
import { openRepeats } from '../fast/repeats.ts';
import { openVisits } from '../fast/visit.ts';
import type { Answering } from '../load/server-limits.ts';
import type { Logger } from '../log.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { guardListener } from '../plugins/guard.ts';
import type { PlainQueries } from '../plugins/use-plain-queries.ts';
import type { Operations } from '../protocol/operations.ts';
import type { Contexts } from './contexts.ts';
import type { Entrance } from './entrance.ts';
import type { ShownErrors } from './shown-errors.ts';
import type { GatewayYoga } from './yoga.ts';

export interface ListenerSources extends Pick<Entrance, 'admission' | 'pressure'> {
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

/** Makes the listener, and what it wants to see of the server beside requests. */
export function gatewayListener(sources: ListenerSources): Required<Answering> {
  const { config, yoga, contexts, queries, kept, admission, pressure, telemetry, operations, errors, log } =
    sources;
  const visits = openVisits({ admission, pressure, telemetry, origins: config.CORS_ORIGINS });
  const repeats = openRepeats({ kept, visits, telemetry });
  const long = guardListener(yoga);
  const onFault = (error: unknown) => log.error('request', { error });
  const listener = openFastPath({
    // A caller that has to prove who it is does so on the long way.
    listener: config.proofNeeded ? long : keptFiles(long, { kept, visits, repeats, onFault }),
    yoga,
    queries,
    kept,
    visits,
    repeats,
    admission,
    telemetry,
    documentOf: operations.documentOf,
    isMeant: (host) => !config.keyForLoopback || isOwnHost(host, config.PUBLIC_URL),
    onError: errors.count,
    shown: errors.ofResult,
    contexts,
    patience: config.REQUEST_TIMEOUT_MS,
    pulseMs: sources.pulseMs,
    onFault,
    always: sources.sandbox ? { 'x-sandbox': '1' } : {},
    maxBytes: Math.min(config.MAX_BODY_BYTES, MOST_BYTES),
    byOrigin: config.CORS_ORIGINS.length > 0,
    proofNeeded: config.proofNeeded,
  });
  // Nobody who has to be asked who it is can be answered at once.
  return { listener, watch: config.proofNeeded ? () => undefined : repeats.watch };
}
