// Monitoring: GET /health (the event loop runs), /ready (ready for traffic) and /metrics
// (Prometheus).

import { type MetricsAccess, refuseMetrics } from '../auth/metrics-access.ts';
import { nodeResponseOf } from '../auth/node-request.ts';
import type { Route } from '../plugins/use-routes.ts';
import type { Readiness } from '../readiness.ts';
import { handleGetOrHead, textResponse } from './responses.ts';

export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

const json = (status: number, body: unknown): Response =>
  new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });

export const healthRoute: Route = (request, { pathname }) =>
  pathname === '/health' ? handleGetOrHead(request, async () => json(200, { alive: true })) : null;

/** @param readiness - 200 for `ready` and `degraded`, 503 for `unready` and `draining` */
export const readyRoute =
  (readiness: () => Promise<Readiness>): Route =>
  (request, { pathname }) => {
    if (pathname !== '/ready') return null;
    return handleGetOrHead(request, async () => {
      const answer = await readiness();
      return json(answer.state === 'ready' || answer.state === 'degraded' ? 200 : 503, answer);
    });
  };

const REFUSALS = {
  401: 'The metrics need their own token: `Authorization: Bearer <METRICS_TOKEN>`.',
  403: 'Without METRICS_TOKEN or METRICS_PORT only this machine itself may read the metrics.',
};

/** Sends the metrics, or a refusal to clients that may not read them. */
async function metricsAnswer(
  source: MetricsSource,
  access: MetricsAccess,
  request: Request,
  remote: string | undefined,
): Promise<Response> {
  const refusal = refuseMetrics(access, (name) => request.headers.get(name), remote);
  if (refusal !== undefined)
    return textResponse(refusal, REFUSALS[refusal], refusal === 401 ? { 'www-authenticate': 'Bearer' } : {});
  return new Response(await source.text(), {
    headers: { 'content-type': source.contentType, 'cache-control': 'no-store' },
  });
}

export const metricsRoute =
  (source: MetricsSource, access: MetricsAccess): Route =>
  (request, { pathname }, serverContext) => {
    if (pathname !== '/metrics') return null;
    const remote = nodeResponseOf(serverContext)?.req.socket.remoteAddress;
    return handleGetOrHead(request, () => metricsAnswer(source, access, request, remote));
  };
