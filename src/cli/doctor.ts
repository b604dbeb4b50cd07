// foldatlas doctor: examines the service (src/doctor) and prints what differs.
import { randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import type { CheckStatus } from '../doctor/check.ts';
import { examine, reportText } from '../doctor/doctor.ts';
import { startEmbeddedSandbox } from '../process/embedded-sandbox.ts';
import type { Upstream } from '../upstream/http/call.ts';
import { openServiceConnections } from '../upstream/http/connections.ts';
import { toUpstreamSettings } from '../upstream/settings.ts';
import { command, flag, option, TOKEN_FILE } from './command.ts';
import { EXIT, loadConfig, readToken } from './session.ts';

const EXITS: Readonly<Record<CheckStatus, number>> = {
  OK: EXIT.ok,
  SKIPPED: EXIT.ok,
  CHANGED: EXIT.notAllGood,
  UNREACHABLE: EXIT.unreachable,
  NOT_SEEN: EXIT.notAllGood,
};

/** The service of the configuration, or a sandbox of its own where there is none. */
async function openService(config: Config, token: string | undefined) {
  const sandbox =
    config.UPSTREAM_URL === undefined
      ? await startEmbeddedSandbox(config, { dataDir: 'memory', port: 0, size: 'small', speed: 1000 })
      : undefined;
  const connections = openServiceConnections();
  const upstream: Upstream = {
    settings: toUpstreamSettings(config, config.UPSTREAM_URL ?? sandbox?.url ?? ''),
    connections,
    token: token ?? config.UPSTREAM_API_KEY ?? (sandbox === undefined ? undefined : 'sandbox'),
    requestId: `doctor-${randomUUID()}`,
    signal: undefined,
  };
  return {
    upstream,
    sandbox: sandbox !== undefined,
    async close() {
      await connections.close();
      await sandbox?.close();
    },
  };
}

export default command({
  name: 'doctor',
  summary: 'Is the service as the gateway expects it?',
  args: {
    json: flag('The report as JSON'),
    batch: option('ID', 'Also read this batch of yours: its pages and a task'),
    'token-file': TOKEN_FILE,
  },
  examples: [
    [
      'UPSTREAM_URL=https://api.example.org foldatlas doctor',
      'Examine a service; without UPSTREAM_URL, a sandbox',
    ],
    ['foldatlas doctor --json | jq .status', 'OK, CHANGED, UNREACHABLE or NOT_SEEN'],
  ],
  exits: [
    [EXIT.ok, 'the service is as expected'],
    [EXIT.notAllGood, 'something has changed, or the token or the batch is refused'],
    [EXIT.unreachable, 'nothing changed, but something does not answer'],
    [EXIT.usage, 'the command line is wrong'],
    [EXIT.config, 'the configuration is wrong'],
  ],
  async run({ json, batch, 'token-file': tokenFile }, session) {
    const config = await loadConfig(session);
    const { upstream, sandbox, close } = await openService(config, readToken(session, tokenFile));
    try {
      const report = await examine(upstream, { sandbox, batchId: batch });
      await session.out(json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
      return EXITS[report.status];
    } finally {
      await close();
    }
  },
});
