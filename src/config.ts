// The configuration: reads the environment, the files that it names, and reports all problems at
// once.
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { isRedis, secret, variables } from './config/variables.ts';
import { readMapping } from './contract/mapping.ts';
import { readKeyFile } from './http/auth/api-keys.ts';
import { isLoopback } from './http/auth/loopback.ts';
import { readManifest } from './http/graphql/persisted-operations-manifest.ts';
import type { WireMapping } from './upstream/renames.ts';

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(variables.shape);

/** The checked settings. Names follow the environment variables that the README lists. */
export type Config = ReturnType<typeof readConfig>;

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

/**
 * The text of a file that a setting names; undefined, with a problem reported, when it cannot be
 * read.
 */
function textIn(file: string, told: (problem: string) => void): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    told(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** The secret, also from GATEWAY_SECRET_FILE. Problems of that file are added to `problems`. */
function secretOf(v: z.output<typeof variables>, problems: string[]): string | undefined {
  const { GATEWAY_SECRET: given, GATEWAY_SECRET_FILE: file } = v;
  const told = (problem: string) => void problems.push(`GATEWAY_SECRET_FILE: ${problem}`);
  if (file === undefined) return given;
  if (given !== undefined) told('set either it or GATEWAY_SECRET, not both');
  const text = textIn(file, told)?.trim();
  if (text === undefined || secret.safeParse(text).success) return text;
  told(`${file} must hold at least 16 characters; make it once with \`openssl rand -hex 32\``);
  return undefined;
}

/** Reads the file of WIRE_MAPPING_FILE; what is wrong with it is added to the problems. */
function mappingIn(file: string | undefined, problems: string[]): WireMapping | undefined {
  const told = (problem: string) => void problems.push(`WIRE_MAPPING_FILE: ${problem}`);
  const text = file === undefined ? undefined : textIn(file, told);
  if (text === undefined) return undefined;
  const read = readMapping(text);
  if ('mapping' in read) return read.mapping;
  for (const problem of read.problems) told(problem);
  return undefined;
}

/** Reads the file of PERSISTED_OPERATIONS_FILE; what is wrong with it is added to the problems. */
function operationsIn(
  mode: string,
  file: string | undefined,
  problems: string[],
): ReadonlyMap<string, string> {
  const told = (problem: string) => void problems.push(`PERSISTED_OPERATIONS_FILE: ${problem}`);
  if (mode === 'off') return new Map();
  if (file === undefined) told(`name the list of operations that PERSISTED_OPERATIONS=${mode} speaks of`);
  const text = file === undefined ? undefined : textIn(file, told);
  if (text === undefined) return new Map();
  const read = readManifest(text);
  if ('operations' in read) return read.operations;
  told(`${file} ${read.problem}`);
  return new Map();
}

/** The settings by which callers prove themselves. */
const waysOf = (v: z.output<typeof variables>): string[] => [
  ...(v.GATEWAY_API_KEYS.length > 0 ? ['GATEWAY_API_KEYS'] : []),
  ...(v.GATEWAY_API_KEYS_FILE === undefined ? [] : ['GATEWAY_API_KEYS_FILE']),
  ...(v.GATEWAY_JWKS_URL === undefined ? [] : ['GATEWAY_JWKS_URL']),
];

/** What is wrong with how callers prove themselves. */
function problemsOfWays(v: z.output<typeof variables>, ways: readonly string[]): string[] {
  const problems: string[] = [];
  if (v.UPSTREAM_API_KEY === undefined && ways.length > 0) {
    problems.push(
      `${ways.join(', ')}: set UPSTREAM_API_KEY too; without it each caller's own token goes to the ` +
        'service, and the gateway checks no credentials',
    );
  }
  if (v.GATEWAY_API_KEYS_FILE !== undefined) {
    try {
      readKeyFile(v.GATEWAY_API_KEYS_FILE);
    } catch (error) {
      problems.push(`GATEWAY_API_KEYS_FILE: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (v.GATEWAY_JWKS_URL !== undefined) {
    const { protocol, hostname } = new URL(v.GATEWAY_JWKS_URL);
    if (protocol !== 'https:' && !isLoopback(hostname))
      problems.push(
        'GATEWAY_JWKS_URL: must be https: over http an attacker could replace the keys and authenticate as anybody',
      );
    if (v.GATEWAY_JWT_ISSUER === undefined)
      problems.push('GATEWAY_JWT_ISSUER: is needed with GATEWAY_JWKS_URL; it is the `iss` of good tokens');
    if (v.GATEWAY_JWT_AUDIENCE.length === 0)
      problems.push(
        'GATEWAY_JWT_AUDIENCE: is needed with GATEWAY_JWKS_URL; without it tokens that were made for other ' +
          'services would be good here',
      );
  }
  return problems;
}

/**
 * Reads the settings.
 *
 * @param env - the environment; empty strings count as unset
 * @throws {@link ConfigError} with every problem at once
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  const v = parsed.data;
  const problems: string[] = [];
  const gatewaySecret = secretOf(v, problems);
  const mapping = mappingIn(v.WIRE_MAPPING_FILE, problems);
  const listed = operationsIn(v.PERSISTED_OPERATIONS, v.PERSISTED_OPERATIONS_FILE, problems);
  if (v.REQUIRE_UPSTREAM && v.UPSTREAM_URL === undefined) {
    problems.push(
      'REQUIRE_UPSTREAM: set UPSTREAM_URL too; the embedded sandbox is forbidden by this setting',
    );
  }
  const ways = waysOf(v);
  const proofNeeded = v.UPSTREAM_API_KEY !== undefined && ways.length > 0;
  if (v.UPSTREAM_API_KEY !== undefined && !proofNeeded && !isLoopback(v.HOST)) {
    problems.push(
      `UPSTREAM_API_KEY: with HOST=${v.HOST} anybody who reaches the gateway would spend your credits; ` +
        'set GATEWAY_API_KEYS, GATEWAY_API_KEYS_FILE or GATEWAY_JWKS_URL, or listen on 127.0.0.1',
    );
  }
  if (v.UPSTREAM_API_KEY !== undefined && !proofNeeded && v.CORS_ORIGINS.includes('*')) {
    problems.push(
      'CORS_ORIGINS: with * any page that you open could spend your credits while the gateway ' +
        'holds the key; list the origins',
    );
  }
  problems.push(...problemsOfWays(v, ways));
  const ledger = v.LEDGER_URL ?? v.STORE_URL;
  if (isRedis(ledger) && v.GATEWAY_SECRET === undefined && v.GATEWAY_SECRET_FILE === undefined) {
    problems.push(
      'GATEWAY_SECRET: gateways that share a ledger in Redis must share a secret too, or each would know ' +
        'its own batches only; make one once with `openssl rand -hex 32`, keep it in a file, and set ' +
        'GATEWAY_SECRET_FILE',
    );
  }
  if (v.WORKERS > 1 && /^memory:/.test(ledger)) {
    problems.push(
      'WORKERS: several processes cannot share a store in memory; ' +
        'set STORE_URL to sqlite:PATH or redis://HOST',
    );
  }
  if (v.MAX_BODY_BYTES > 0.75 * v.MAX_BUFFERED_BYTES) {
    problems.push(
      'MAX_BUFFERED_BYTES: one client address has three quarters of it, which is less than a body of ' +
        `MAX_BODY_BYTES=${v.MAX_BODY_BYTES}; set it to ${Math.ceil(v.MAX_BODY_BYTES / 0.75)} or more`,
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const production = v.NODE_ENV === 'production';
  return {
    ...v,
    /** The secret itself, also where GATEWAY_SECRET_FILE holds it. */
    GATEWAY_SECRET: gatewaySecret,
    /** What WIRE_MAPPING_FILE says; undefined without one. */
    wireMapping: mapping,
    /** Documents by id, as PERSISTED_OPERATIONS_FILE lists them. */
    listedOperations: listed,
    production,
    /**
     * Whether callers must send credentials: the gateway holds the key and serves more than
     * loopback.
     */
    proofNeeded,
    /** Whether the gateway holds the key and serves loopback callers without credentials. */
    keyForLoopback: v.UPSTREAM_API_KEY !== undefined && !proofNeeded,
    LEDGER_URL: ledger,
    GRAPHIQL: v.GRAPHIQL ?? !production,
    INTROSPECTION: v.INTROSPECTION ?? !production,
  };
}
