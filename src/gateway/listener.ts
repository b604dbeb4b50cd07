// The gateway as a node:http listener: request limits first, then the response cache, then Yoga.
import type { RequestListener } from 'node:http';
import type { Config } from '../config.ts';
import type { AccessControl } from '../http/access-control.ts';
import { oneAtATime } from '../http/limits/pipelining.ts';
import { limitRequests } from '../http/limits/request-limits.ts';
import { destroyResponse, wrapListener } from '../http/plugins/safe-hooks.ts';
import { withResponseCache } from '../http/response-cache/response-cache.ts';
import type { ResponseStore } from '../http/response-cache/response-store.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { GatewayYoga } from './yoga.ts';

export interface ListenerSources
  extends Pick<AccessControl, 'admission' | 'pressure' | 'bodies' | 'connections' | 'slowReaders'> {
  readonly config: Config;
  readonly yoga: GatewayYoga;
  readonly store: ResponseStore;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

/** Makes the listener. */
export function gatewayListener(sources: ListenerSources): RequestListener {
  const { config, yoga, store, admission, telemetry, log } = sources;
  const { pressure, bodies, connections, slowReaders } = sources;
  const onFault = (error: unknown) => log.error({ error }, 'request');
  const origins = config.CORS_ORIGINS;
  const cached = withResponseCache(wrapListener(yoga), { store, telemetry, origins, onFault });
  const limited = limitRequests(cached, {
    admission,
    pressure,
    bodies,
    connections,
    slowReaders,
    proofNeeded: config.proofNeeded,
    maxBodyBytes: config.MAX_BODY_BYTES,
    onFault(error, res) {
      onFault(error);
      destroyResponse(res);
    },
  });
  return oneAtATime(limited);
}
