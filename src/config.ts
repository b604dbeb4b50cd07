// The configuration: reads the environment and the files that it names, and reports all problems at
// once.
import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import { readKeyFile } from './config/api-keys.ts';
import { DEFAULT_LIMITS, type GatewayLimits } from './config/limits.ts';
import { isLoopback } from './config/loopback.ts';
import { readManifest } from './config/operation-manifest.ts';
import { readTraceSettings } from './config/traces.ts';
import { isRedis, misspelt, secret, variables } from './config/variables.ts';

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(variables.shape);

type Settings = z.output<typeof variables>;

/** The checked settings. Names in capitals are environment variables (docs/operators.md). */
export interface Config extends Settings {
  /**
   * Over the embedded sandbox, pages of this machine may read answers unless something else is set.
   */
  readonly CORS_ORIGINS: string[];
  readonly INTROSPECTION: boolean;
  readonly LEDGER_URL: string;
  readonly PERSISTED_OPERATIONS: 'off' | 'allow' | 'only';
  /** Limits that no setting changes. */
  readonly limits: GatewayLimits;
  /** Documents of PERSISTED_OPERATIONS_FILE by their ids. */
  readonly listedOperations: ReadonlyMap<string, string>;
  readonly isProduction: boolean;
  /** Whether callers must send credentials, because the gateway holds the key. */
  readonly proofNeeded: boolean;
  /** Whether the gateway holds the key and serves loopback callers without credentials. */
  readonly keyForLoopback: boolean;
  /** Variables of the embedded sandbox, which reads them itself. */
  readonly sandbox: Readonly<Record<string, string>>;
  /** Whether traces are sent. */
  readonly tracesOn: boolean;
  /** One sentence for each variable that has no effect though it may be meant to have one. */
  readonly warnings: readonly string[];
}

/** Thrown by {@link readConfig}; `problems` holds one sentence for each variable that is wrong. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Reads the files that settings name; what is wrong with them is added to the problems. */
function readFiles(v: Settings, problems: string[]) {
  const {
    GATEWAY_SECRET: given,
    PERSISTED_OPERATIONS: mode = 'off',
    PERSISTED_OPERATIONS_FILE: listFile,
  } = v;
  const textIn = (setting: 'GATEWAY_SECRET_FILE' | 'PERSISTED_OPERATIONS_FILE'): string | undefined => {
    const file = v[setting];
    try {
      return file === undefined ? undefined : readFileSync(file, 'utf8');
    } catch (error) {
      problems.push(`${setting}: ${file} cannot be read: ${errorMessage(error)}`);
      return undefined;
    }
  };
  if (given !== undefined && v.GATEWAY_SECRET_FILE !== undefined)
    problems.push('GATEWAY_SECRET_FILE: set either it or GATEWAY_SECRET, not both');
  const gatewaySecret = v.GATEWAY_SECRET_FILE === undefined ? given : textIn('GATEWAY_SECRET_FILE')?.trim();
  if (gatewaySecret !== undefined && !secret.safeParse(gatewaySecret).success)
    problems.push(
      `GATEWAY_SECRET_FILE: ${v.GATEWAY_SECRET_FILE} must hold at least 16 characters; ` +
        'make it once with `openssl rand -hex 32`',
    );
  const list = mode === 'off' ? undefined : textIn('PERSISTED_OPERATIONS_FILE');
  const listed = list === undefined ? { operations: new Map<string, string>() } : readManifest(list);
  if ('problem' in listed) problems.push(`PERSISTED_OPERATIONS_FILE: ${listFile} ${listed.problem}`);
  try {
    if (v.GATEWAY_API_KEYS_FILE !== undefined) readKeyFile(v.GATEWAY_API_KEYS_FILE, v.GATEWAY_API_KEYS);
  } catch (error) {
    problems.push(`GATEWAY_API_KEYS_FILE: ${errorMessage(error)}`);
  }
  return {
    gatewaySecret,
    listedOperations: 'operations' in listed ? listed.operations : new Map<string, string>(),
  };
}

/** The settings by which callers prove themselves. */
const proofSettings = (v: Settings): string[] => [
  ...(v.GATEWAY_API_KEYS.length > 0 ? ['GATEWAY_API_KEYS'] : []),
  ...(v.GATEWAY_API_KEYS_FILE === undefined ? [] : ['GATEWAY_API_KEYS_FILE']),
  ...(v.GATEWAY_JWKS_URL === undefined ? [] : ['GATEWAY_JWKS_URL']),
];

/** The settings by which other machines may reach the gateway. */
const exposingSettings = (v: Settings): string[] => [
  ...(isLoopback(v.HOST) ? [] : [`HOST=${v.HOST}`]),
  ...(v.PUBLIC_URL === undefined ? [] : ['PUBLIC_URL']),
  ...(v.TRUST_PROXY === 0 ? [] : ['TRUST_PROXY']),
];

const isLoopbackHost = (host: string): boolean => isLoopback(new URL(`http://${host}`).hostname);

/** One sentence for each contradiction between settings. */
function findConflicts(v: Settings, ways: readonly string[], ledger: string): string[] {
  const jwks = v.GATEWAY_JWKS_URL === undefined ? undefined : new URL(v.GATEWAY_JWKS_URL);
  const mode = v.PERSISTED_OPERATIONS;
  const isOpenWithKey = v.UPSTREAM_API_KEY !== undefined && ways.length === 0;
  const exposing = exposingSettings(v);
  const conflicts: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [
      mode !== undefined && mode !== 'off' && v.PERSISTED_OPERATIONS_FILE === undefined,
      `PERSISTED_OPERATIONS_FILE: name the list of operations that PERSISTED_OPERATIONS=${mode} speaks of`,
    ],
    [
      mode === undefined && v.PERSISTED_OPERATIONS_FILE !== undefined,
      'PERSISTED_OPERATIONS_FILE: without PERSISTED_OPERATIONS nothing is limited to its list; set that to ' +
        'only (nothing else runs), allow (others run too) or off',
    ],
    [
      v.REQUIRE_UPSTREAM && v.UPSTREAM_URL === undefined,
      'REQUIRE_UPSTREAM: set UPSTREAM_URL too; the embedded sandbox is forbidden by this setting',
    ],
    [
      isOpenWithKey && exposing.length > 0,
      `UPSTREAM_API_KEY: with ${exposing.join(' and ')} anybody who reaches the gateway would spend your ` +
        'credits; set GATEWAY_API_KEYS, GATEWAY_API_KEYS_FILE or GATEWAY_JWKS_URL, so that callers prove ' +
        'who they are, or serve this machine alone: HOST=127.0.0.1 without PUBLIC_URL and TRUST_PROXY',
    ],
    [
      isOpenWithKey && v.CORS_ORIGINS?.includes('*') === true,
      'CORS_ORIGINS: with * any page that you open could spend your credits while the gateway ' +
        'holds the key; list the origins',
    ],
    [
      v.UPSTREAM_API_KEY === undefined && ways.length > 0,
      `${ways.join(', ')}: set UPSTREAM_API_KEY too; without it each caller's own token goes to the ` +
        'service, and the gateway checks no credentials',
    ],
    [
      jwks !== undefined && jwks.protocol !== 'https:' && !isLoopback(jwks.hostname),
      'GATEWAY_JWKS_URL: must be https: over http an attacker could replace the keys and authenticate as ' +
        'anybody',
    ],
    [
      jwks !== undefined && v.GATEWAY_JWT_ISSUER === undefined,
      'GATEWAY_JWT_ISSUER: is needed with GATEWAY_JWKS_URL; it is the `iss` of good tokens',
    ],
    [
      jwks !== undefined && v.GATEWAY_JWT_AUDIENCE.length === 0,
      'GATEWAY_JWT_AUDIENCE: is needed with GATEWAY_JWKS_URL; without it tokens that were made for other ' +
        'services would be good here',
    ],
    [
      jwks === undefined && (v.GATEWAY_JWT_ISSUER !== undefined || v.GATEWAY_JWT_AUDIENCE.length > 0),
      'GATEWAY_JWKS_URL: is needed with GATEWAY_JWT_ISSUER and GATEWAY_JWT_AUDIENCE; without the keys of ' +
        'the issuer no token is checked',
    ],
    [
      isRedis(ledger) && v.GATEWAY_SECRET === undefined && v.GATEWAY_SECRET_FILE === undefined,
      'GATEWAY_SECRET: gateways that share a ledger in Redis must share a secret too, or each would know ' +
        'its own batches only; make one once with `openssl rand -hex 32`, keep it in a file, and set ' +
        'GATEWAY_SECRET_FILE',
    ],
    [
      v.WEBHOOK_HOSTS.length > 0 && v.WEBHOOK_SECRET.length === 0,
      'WEBHOOK_SECRET: is needed with WEBHOOK_HOSTS, so that receivers know who sent a webhook; make one ' +
        'with `echo "whsec_$(openssl rand -base64 32)"`',
    ],
    [
      v.UPSTREAM_URL !== undefined && v.WEBHOOK_HOSTS.some(isLoopbackHost),
      'WEBHOOK_HOSTS: hosts of this machine can be notified over the embedded sandbox only; anybody could ' +
        'have the gateway call its neighbours',
    ],
    [
      v.PORT !== 0 && v.METRICS_PORT === v.PORT,
      'METRICS_PORT: is PORT; set another one, or leave it out to have /metrics beside /graphql',
    ],
  ];
  return conflicts.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));
}

const UNTRIMMED: ReadonlySet<string> = new Set(['GATEWAY_SECRET', 'GATEWAY_SECRET_PREVIOUS']);

/**
 * Variables that name a proxy on the way out. With one, the gateway could not check the address of
 * a download while it connects.
 */
const proxySettings = (names: readonly string[]): string[] =>
  names
    .filter((name) => /^(https?|all)_proxy$/i.test(name))
    .map((name) => `${name}: the gateway connects to the service directly, so this has no effect`);

/**
 * Reads the settings.
 *
 * @param env - the environment. White space around a value, as files and secrets often have, is not
 *   part of it, but for the secrets: callers are named by them. Empty strings count as unset.
 * @throws {@link ConfigError} with every problem at once
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env)
      .map(([name, value]) => [name, UNTRIMMED.has(name) ? value : value?.trim()] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const problems: string[] = [];
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
    // Files that the other settings name are looked at as well.
    const wrong = new Set(parsed.error.issues.map(({ path: [name] }) => name));
    const others = variables.safeParse(
      Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name))),
    );
    if (others.success) readFiles(others.data, problems);
    throw new ConfigError(problems);
  }
  const v = parsed.data;
  const traces = readTraceSettings(given);
  const { gatewaySecret, listedOperations } = readFiles(v, problems);
  const ways = proofSettings(v);
  const ledger = v.LEDGER_URL ?? v.STORE_URL;
  problems.push(...findConflicts(v, ways, ledger));
  if (problems.length > 0) throw new ConfigError(problems);
  const isProduction = v.NODE_ENV === 'production';
  const isLocalDemo = v.UPSTREAM_URL === undefined && exposingSettings(v).length === 0;
  return {
    ...v,
    CORS_ORIGINS: v.CORS_ORIGINS ?? (isLocalDemo ? ['loopback'] : []),
    GATEWAY_SECRET: gatewaySecret,
    INTROSPECTION: v.INTROSPECTION ?? !isProduction,
    LEDGER_URL: ledger,
    PERSISTED_OPERATIONS: v.PERSISTED_OPERATIONS ?? 'off',
    limits: DEFAULT_LIMITS,
    listedOperations,
    isProduction,
    proofNeeded: ways.length > 0,
    keyForLoopback: v.UPSTREAM_API_KEY !== undefined && ways.length === 0,
    sandbox: Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) =>
        name.startsWith('SANDBOX_') && value !== undefined ? [[name, value]] : [],
      ),
    ),
    tracesOn: traces.isOn,
    warnings: [
      ...misspelt(Object.keys(given), SETTINGS),
      ...proxySettings(Object.keys(given)),
      ...traces.warnings,
    ],
  };
}
