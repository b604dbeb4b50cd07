// The place of fuzzing: a sandbox, a gateway over it on a real socket, and one over a proxy that
// spoils answers.

import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { type ChangingProxy, openProxy } from '../doctor/proxy.ts';
import { type OracleWorld, openOracleWorld } from '../oracle/world.ts';
import { type Served, serve, submit } from '../subscriptions/streams.ts';
import { reached } from '../transport.ts';
import { AUTH } from './target.ts';

export interface FuzzWorld {
  readonly gateway: Gateway;
  /** The same gateway on a port. */
  readonly served: Served;
  /** A gateway whose upstream answers as `proxy` says. */
  readonly lied: Gateway;
  readonly proxy: ChangingProxy;
  /** The world in which answers are compared with the reference. */
  readonly oracle: OracleWorld;
  /** Two small folds that are done. */
  readonly batchId: string;
  close(): Promise<void>;
}

function open(upstreamUrl: string): Gateway {
  const config = readConfig({
    STORE_URL: 'memory:',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_CONCURRENT_REQUESTS: '0',
    CACHE_RECORDS_SECONDS: '0',
  });
  return reached(
    createGateway({
      config,
      upstreamUrl,
      log: createLogger(config.LOG_LEVEL, false),
      // An upstream that lies is asked again and again: that it would be left alone is tried
      // elsewhere.
      breaker: { failures: 1_000_000, first: 1, longest: 1 },
    }),
  );
}

export async function openFuzzWorld(): Promise<FuzzWorld> {
  const sandbox = await startSandbox({ size: 'small', speed: 10_000 });
  const proxy = await openProxy(sandbox.url);
  const gateway = open(sandbox.url);
  const lied = open(proxy.url);
  const served = await serve(gateway);
  const batchId = await submit(gateway, 2, AUTH);
  const oracle = await openOracleWorld();
  return {
    gateway,
    served,
    lied,
    proxy,
    oracle,
    batchId,
    async close() {
      await served.close();
      await oracle.close();
      await Promise.all([gateway.close(), lied.close()]);
      await proxy.close();
      await sandbox.close();
    },
  };
}
