// The configuration: reads the environment, the files that it names, and reports all problems at
// once.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readMapping } from './contract/mapping.ts';
import { readKey, readKeyFile, weaknessOf } from './http/auth/api-keys.ts';
import { isLoopback } from './http/auth/loopback.ts';
import { readManifest } from './http/graphql/persisted-operations-manifest.ts';
import type { WireMapping } from './upstream/renames.ts';

const flag = z
  .enum(['', '0', '1', 'false', 'true', 'off', 'on', 'no', 'yes'])
  .transform((word) => ['1', 'true', 'on', 'yes'].includes(word));

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be between ${least} and ${most}`);

const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http(s) URL')
  .transform((text) => text.replace(/(?<!\/)\/+$/, ''));

const prefix = z
  .string()
  .regex(/^\/[\w\-./]*[^/]$/, 'must start with a slash and not end in one, such as /api/v1/batch');

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

const LONG_ENOUGH = 'at least 16 characters; make one with `openssl rand -hex 24`';
const secret = z.string().min(16, `must have ${LONG_ENOUGH}`);
const prefixes = list.pipe(z.array(prefix));

const isRedis = (url: string): boolean => /^rediss?:\/\//.test(url);

/** Whether it names a host and nothing but the number of a database there. */
const isRedisUrl = (text: string): boolean => {
  if (!isRedis(text) || !URL.canParse(text)) return false;
  const { hostname, pathname } = new URL(text);
  return hostname !== '' && /^(\/\d*)?$/.test(pathname);
};

const storeUrl = z
  .string()
  .refine(
    (text) => /^(memory:|sqlite:.+)$/.test(text) || isRedisUrl(text),
    'must be memory:, sqlite:PATH, redis://HOST:PORT/DATABASE or rediss://HOST:PORT/DATABASE',
  );

const isOrigin = (text: string): boolean => {
  if (text === '*') return true;
  if (text.includes('*') || !URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text;
};

const variables = z.object({
  UPSTREAM_URL: httpUrl.optional(),
  UPSTREAM_BATCH_PREFIX: prefix.default('/api/v1/batch'),
  UPSTREAM_ATLAS_PREFIX: prefix.default('/atlas/protein/api/v1alpha1'),
  UPSTREAM_LIST_LIMIT_FIELD: z.string().min(1).default('limit'),
  UPSTREAM_LIST_CURSOR_FIELD: z.string().min(1).default('cursor'),
  UPSTREAM_THUMBNAIL_PLDDT: z.string().min(1).default('plddt'),
  UPSTREAM_THUMBNAIL_PCT_CHARACTERIZED: z.string().min(1).default('pct-characterized'),
  WIRE_MAPPING_FILE: z.string().min(1).optional(),
  DOCTOR_ATLAS_PREFIXES: prefixes.default([]),
  DOCTOR_BATCH_PREFIXES: prefixes.default([]),
  CONTRACT_CHECK_MINUTES: whole(0, 44_640).default(60),
  UPSTREAM_API_KEY: z.string().min(1).optional(),
  UPSTREAM_MAX_IN_FLIGHT: whole(1, 10_000).default(64),
  UPSTREAM_MAX_QUEUE: whole(0, 1_000_000).default(1000),
  UPSTREAM_PATIENCE: z.coerce.number().min(0.01).max(100).default(1),
  FOLD_MODELS: list
    .default(['foldmodel2-2026-05-cutoff-2025'])
    .refine((names) => names.length > 0, 'must name at least one model'),
  DOWNLOAD_HOSTS: list.default([]),
  REQUIRE_UPSTREAM: flag.default(false),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: whole(0, 65_535).default(4000),
  PUBLIC_URL: httpUrl.optional(),
  STORE_URL: storeUrl.default('sqlite:.data/gateway.db'),
  LEDGER_URL: storeUrl.optional(),
  CACHE_RECORDS_SECONDS: whole(0, 31_536_000).default(3600),
  CACHE_ANSWERS_MB: whole(0, 4096).default(32),
  GATEWAY_SECRET: secret.optional(),
  GATEWAY_SECRET_FILE: z.string().min(1).optional(),
  GATEWAY_API_KEYS: list
    .default([])
    .refine((keys) => keys.every((key) => readKey(key) !== null), 'each must be a key, or a name and a key')
    .superRefine((keys, { addIssue }) => {
      for (const [index, text] of keys.entries()) {
        const weakness = weaknessOf(readKey(text));
        if (weakness !== null) addIssue(`key ${index + 1} ${weakness}`);
      }
    }),
  GATEWAY_API_KEYS_FILE: z.string().min(1).optional(),
  GATEWAY_JWKS_URL: httpUrl.optional(),
  GATEWAY_JWT_ISSUER: z.string().min(1).optional(),
  GATEWAY_JWT_AUDIENCE: list.default([]),
  CORS_ORIGINS: list
    .default([])
    .refine(
      (origins) => origins.every(isOrigin),
      'must list exact origins such as https://app.example.org, without a path, or * for all',
    ),
  PERSISTED_OPERATIONS: z.enum(['off', 'allow', 'only']).default('off'),
  PERSISTED_OPERATIONS_FILE: z.string().min(1).optional(),
  APQ: flag.default(true),
  GRAPHIQL: flag.optional(),
  INTROSPECTION: flag.optional(),
  FEDERATION: flag.default(true),
  FEDERATION_TOKEN: secret.optional(),
  MAX_QUERY_DEPTH: whole(1, 100).default(12),
  MAX_QUERY_CHARACTERS: whole(1000, 10_000_000).default(200_000),
  MAX_QUERY_TOKENS: whole(100, 100_000).default(10_000),
  MAX_QUERY_ALIASES: whole(0, 10_000).default(200),
  MAX_QUERY_DIRECTIVES: whole(0, 10_000).default(100),
  MAX_QUERY_COST: whole(1, 10_000_000).default(12_000),
  MAX_ANSWER_VALUES: whole(1000, 1_000_000_000).default(2_000_000),
  MAX_ANSWER_BYTES: whole(100_000, 2_147_483_647).default(256 * 1024 * 1024),
  MAX_BODY_BYTES: whole(1024, 1_073_741_824).default(16 * 1024 * 1024),
  MAX_HEADER_BYTES: whole(4096, 1_048_576).default(16 * 1024),
  TRUST_PROXY: whole(0, 10).default(0),
  RATE_LIMIT_PER_MINUTE: whole(0, 10_000_000).default(6000),
  AUTH_FAILURES_PER_MINUTE: whole(0, 1_000_000).default(60),
  MAX_CONCURRENT_REQUESTS: whole(0, 1_000_000).default(500),
  MAX_CONNECTIONS: whole(0, 1_000_000).default(4000),
  MAX_UNFINISHED_BODIES: whole(0, 1_000_000).default(1000),
  MAX_BUFFERED_BYTES: whole(65_536, 8_589_934_592).default(64 * 1024 * 1024),
  REQUEST_BODY_SECONDS: whole(1, 3600).default(30),
  MAX_EVENT_LOOP_DELAY_MS: whole(0, 60_000).default(500),
  MAX_SUBSCRIPTIONS: whole(0, 1_000_000).default(100),
  MAX_SOCKETS_PER_ADDRESS: whole(0, 1_000_000).default(100),
  MAX_BULK_RUNNING_PER_CALLER: whole(0, 1_000_000).default(4),
  MAX_BULK_KEPT_PER_CALLER: whole(0, 1_000_000).default(200),
  MAX_BULK_MB_PER_CALLER: whole(0, 2000).default(32),
  MAX_BULK_RUNNING: whole(0, 1_000_000).default(20),
  MAX_BULK_MB: whole(0, 2000).default(128),
  SLOW_READER_SECONDS: whole(1, 3600).default(30),
  REQUEST_TIMEOUT_MS: whole(100, 3_600_000).default(60_000),
  LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  METRICS: flag.default(true),
  METRICS_TOKEN: z
    .string()
    .regex(/^\S{16,}$/, `must have no spaces and ${LONG_ENOUGH}`)
    .optional(),
  METRICS_PORT: whole(0, 65_535).optional(),
  READY_REQUIRES_UPSTREAM: flag.default(false),
  SHUTDOWN_SECONDS: whole(0, 3600).default(25),
  WORKERS: whole(1, 64).default(1),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('foldatlas'),
  NODE_ENV: z.string().default('development'),
  SANDBOX_DATA: z.string().min(1).default('.data/sandbox'),
  SANDBOX_PORT: whole(0, 65_535).default(0),
  SANDBOX_SEED: whole(0, 4_294_967_295).default(20_260_501),
  SANDBOX_SIZE: z.enum(['full', 'small']).default('full'),
  SANDBOX_DIALECT: z.enum(['plain', 'rich']).default('plain'),
  SANDBOX_SPEED: z.coerce.number().positive().default(1),
  SANDBOX_API_KEYS: list.default([]),
  SANDBOX_CONTROL: flag.default(false),
  SANDBOX_FASTA: z.string().min(1).optional(),
  SANDBOX_PAE_ROWS: z.enum(['token', 'atom']).default('token'),
  SANDBOX_ENTITY_FORM: z.enum(['kind', 'polymer']).default('kind'),
});

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
      problems.push('GATEWAY_JWKS_URL: must be https; who can change the keys on their way can be anybody');
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
