// foldatlas doctor: examines the upstream (src/contract) and prints the findings.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Config } from '../config.ts';
import { runChecks } from '../contract/checks/run-checks.ts';
import { proposalText, suggestMapping } from '../contract/mapping.ts';
import type { CheckStatus } from '../contract/report.ts';
import { jsonOfReport, tableOf } from '../contract/report.ts';
import { sandboxOptionsOf, startEmbeddedSandbox } from '../process/embedded-sandbox.ts';
import { openServiceConnections } from '../upstream/http/connections.ts';
import { openPublicAgent } from '../upstream/http/download.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { settingsOf } from '../upstream/settings.ts';
import { command, flag, TOKEN_FILE } from './command.ts';
import { configOf, EXIT, type Session, tokenOf } from './session.ts';

const EXITS: Readonly<Record<CheckStatus, number>> = {
  OK: EXIT.ok,
  SKIPPED: EXIT.ok,
  CHANGED: EXIT.notAllGood,
  UNREACHABLE: EXIT.unreachable,
};

/** Asks before anything is spent; without a terminal to ask on, the answer is no. */
async function maySpend(session: Session, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!session.terminal || process.stdin.isTTY !== true) {
    session.say('--submit spends a fold of ten residues. Add --yes where no terminal is there to ask on.');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Spend one fold of ten residues? [y/N] ', { signal: session.signal });
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** The upstream of the configuration, or a sandbox of its own where there is none. */
async function openUpstream(config: Config, session: Session, token: string | undefined) {
  const sandbox =
    config.UPSTREAM_URL === undefined
      ? await startEmbeddedSandbox({
          dialect: config.SANDBOX_DIALECT,
          wire: sandboxOptionsOf(config).wire,
          size: 'small',
          speed: 1000,
          onProgress: (line) => session.live(line),
        })
      : undefined;
  const connections = openServiceConnections();
  const publicAgent = openPublicAgent();
  const upstream: Upstream = {
    settings: settingsOf(config, config.UPSTREAM_URL ?? sandbox?.url ?? ''),
    connections,
    token: token ?? config.UPSTREAM_API_KEY ?? (sandbox === undefined ? undefined : 'sandbox'),
    requestId: `doctor-${randomUUID()}`,
    signal: session.signal,
    onCall: () => undefined,
  };
  return {
    upstream,
    downloads: { publicAgent },
    sandbox: sandbox !== undefined,
    async close() {
      await Promise.all([connections.close(), publicAgent.close()]);
      await sandbox?.close();
    },
  };
}

export default command({
  name: 'doctor',
  summary: 'Does the upstream still keep its contract?',
  args: {
    json: flag('The report as JSON'),
    propose: flag('Only the mapping file that would bridge what was renamed'),
    job: flag('Also a bulk job, from start to archive (free, takes a while)'),
    submit: flag(
      'Also run one smallest fold from Submit to its result, and cancel one (costs credits; asks first)',
    ),
    yes: flag('With --submit: do not ask'),
    'token-file': TOKEN_FILE,
  },
  examples: [
    [
      'UPSTREAM_URL=https://api.example.org foldatlas doctor',
      'Examine a deployment; without UPSTREAM_URL, a sandbox',
    ],
    ['foldatlas doctor --json | jq .status', 'OK, CHANGED or UNREACHABLE'],
    ['foldatlas doctor --propose > mapping.yaml', 'Then set WIRE_MAPPING_FILE=mapping.yaml'],
    ['FOLDATLAS_TOKEN=… foldatlas doctor --job --submit', 'Everything; spends one fold of ten residues'],
  ],
  exits: [
    [EXIT.ok, 'the service keeps its contract'],
    [EXIT.notAllGood, 'something has changed'],
    [EXIT.unreachable, 'nothing changed, but something does not answer'],
    [EXIT.usage, 'the command line is wrong'],
    [EXIT.config, 'the configuration is wrong'],
  ],
  async run({ json, propose, job, submit, yes, 'token-file': tokenFile }, session) {
    const config = await configOf(session);
    const token = tokenOf(session, tokenFile);
    if (submit === true && !(await maySpend(session, yes === true))) return EXIT.usage;
    const { upstream, downloads, sandbox, close } = await openUpstream(config, session, token);
    try {
      const report = await runChecks(upstream, {
        downloads,
        sandbox,
        job: job === true,
        propose: true,
        prefixes: { atlas: config.DOCTOR_ATLAS_PREFIXES, batch: config.DOCTOR_BATCH_PREFIXES },
        ...(submit === true ? { submit: { model: config.FOLD_MODELS[0] ?? '' } } : {}),
        onProgress: (line) => session.live(`${line} …`),
      });
      session.live('');
      const proposal = suggestMapping(report, config.wireMapping);
      if (propose === true) await session.out(proposalText(proposal, report.settings));
      else await session.out(json === true ? jsonOfReport(report, proposal) : tableOf(report));
      return EXITS[report.status];
    } finally {
      await close();
    }
  },
});
