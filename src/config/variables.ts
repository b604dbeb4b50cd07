// The environment variables of the gateway: their defaults and bounds, and how mistakes in their
// names are found.
import * as z from 'zod';
import { checkKey, readKey } from './api-keys.ts';

/**
 * Whether two texts differ by one letter that is wrong, missing or too many, by two swapped, or by
 * case.
 */
function isOneMistakeFrom(text: string, right: string): boolean {
  if (text === right) return false;
  const [a, b] = [text.toUpperCase(), right.toUpperCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isSwapped = restB.length === 2 && restA === `${restB[1]}${restB[0]}`;
  return isSwapped || (restA.length <= 1 && restB.length <= 1);
}

const flag = z
  .enum(['0', '1', 'false', 'true', 'off', 'on', 'no', 'yes'])
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

/** An address that is fetched as it stands: fetch takes none with a user or a password. */
const fetchedUrl = httpUrl.refine((text) => {
  const { username, password } = new URL(text);
  return username === '' && password === '';
}, 'must have no user or password: it could never be fetched');

/** An address that paths are put behind. */
const baseUrl = httpUrl.refine((text) => {
  const { username, password, search, hash } = new URL(text);
  return [username, password, search, hash].every((part) => part === '');
}, 'must have no user, password, query or fragment: they would be sent nowhere, or break addresses');

const prefix = z
  .string()
  .regex(/^\/[\w\-./]*[^/]$/, 'must start with a slash and not end in one, such as /api/v1/batch');

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Two names, such as those of two fields. */
const namePair = list.transform((names, { addIssue }): [string, string] => {
  const [first, second, ...others] = names;
  if (first !== undefined && second !== undefined && others.length === 0) return [first, second];
  addIssue('must be two names, separated by a comma');
  return z.NEVER;
});

/** Fields of requests to List whose names no setting changes. */
const LIST_FIELDS = ['batch_id', 'include_responses', 'status'];

/**
 * Where an empty list would let everybody in: `,` is what is left of variables that are not set.
 */
const keyList = list.refine((keys) => keys.length > 0, 'must list a key, or be left out').default([]);

const LONG_ENOUGH = 'at least 16 characters; make one with `openssl rand -hex 24`';
export const secret = z.string().min(16, `must have ${LONG_ENOUGH}`);

/**
 * Secrets, separated by commas, with or without spaces around them. A secret may itself have a
 * comma or a space, so that the whole text and each part as it stands count too.
 */
const formerSecretList = z
  .string()
  .transform((text) => {
    const parts = text.split(',');
    const all = [text, ...parts, ...parts.map((part) => part.trim())];
    return [...new Set(all)].filter((part) => secret.safeParse(part).success);
  })
  .refine((secrets) => secrets.length > 0, 'must list secrets of at least 16 characters, separated by commas')
  .optional();

export const isRedis = (url: string): boolean => /^rediss?:\/\//.test(url);

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
  )
  // SQLite's own name for a database in memory.
  .transform((text) => (text === 'sqlite::memory:' ? 'memory:' : text));

/**
 * Whether it is the host of addresses of either protocol, as the URL parser writes it, and no
 * pattern.
 */
const isHost = (text: string): boolean =>
  !text.includes('*') &&
  ['http', 'https'].every(
    (protocol) => URL.canParse(`${protocol}://${text}`) && new URL(`${protocol}://${text}`).host === text,
  );

const hostList = list
  .default([])
  .transform((hosts) => hosts.map((host) => host.toLowerCase()))
  .refine(
    (hosts) => hosts.every(isHost),
    'must list hosts such as files.example.org or files.example.org:9000, without a scheme, a path or ' +
      'the usual port',
  );

/** Secrets of webhooks, by https://www.standardwebhooks.com. */
const webhookSecrets = list.default([]).refine(
  (secrets) =>
    secrets.every((text) => {
      const [, base64] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? [];
      const bytes = Buffer.from(base64 ?? '', 'base64').length;
      return bytes >= 24 && bytes <= 64;
    }),
  'must be whsec_ and 24 to 64 bytes in base64; make one with `echo "whsec_$(openssl rand -base64 32)"`',
);

const isOrigin = (text: string): boolean => {
  if (text === '*' || text === 'loopback') return true;
  if (text.includes('*') || !URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text;
};

/** The variables, each with its default and its bounds. */
export const variables = z.object({
  UPSTREAM_URL: baseUrl.optional(),
  UPSTREAM_BATCH_PREFIX: prefix.default('/api/v1/batch'),
  UPSTREAM_ATLAS_PREFIX: prefix.default('/atlas/protein/api/v1alpha1'),
  UPSTREAM_LIST_FIELDS: namePair
    .refine(
      (names) => new Set([...names, ...LIST_FIELDS]).size === names.length + LIST_FIELDS.length,
      `must differ from each other and from ${LIST_FIELDS.join(', ')}, which requests to List hold too`,
    )
    .default(['limit', 'cursor']),
  UPSTREAM_THUMBNAILS: namePair.default(['plddt', 'pct-characterized']),
  UPSTREAM_API_KEY: z
    .string()
    .regex(/^[!-~]+$/, 'must have no spaces, and only letters that a header may have')
    .optional(),
  UPSTREAM_MAX_IN_FLIGHT: whole(1, 10_000).default(64),
  UPSTREAM_TIMEOUT_FACTOR: z.coerce.number().min(0.01).max(100).default(1),
  FOLD_MODELS: list
    .default(['foldmodel2-2026-05-cutoff-2025'])
    .refine((names) => names.length > 0, 'must name at least one model'),
  DOWNLOAD_HOSTS: hostList,
  REQUIRE_UPSTREAM: flag.default(false),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: whole(0, 65_535).default(4000),
  PUBLIC_URL: baseUrl.optional(),
  STORE_URL: storeUrl.default('sqlite:.data/gateway.db'),
  LEDGER_URL: storeUrl.optional(),
  CACHE_RECORDS_SECONDS: whole(0, 31_536_000).default(3600),
  GATEWAY_SECRET: secret.optional(),
  GATEWAY_SECRET_FILE: z.string().min(1).optional(),
  GATEWAY_SECRET_PREVIOUS: formerSecretList,
  GATEWAY_API_KEYS: keyList
    .refine((keys) => keys.every((key) => readKey(key) !== null), 'each must be a key, or a name and a key')
    .superRefine((keys, { addIssue }) => {
      const names = new Map<string, string | null>();
      for (const [index, text] of keys.entries()) {
        const key = readKey(text);
        const fault = key === null ? null : checkKey(key, names);
        if (fault !== null) addIssue(`key ${index + 1} ${fault}`);
      }
    })
    .transform((keys) => keys.flatMap((text) => readKey(text) ?? [])),
  GATEWAY_API_KEYS_FILE: z.string().min(1).optional(),
  GATEWAY_JWKS_URL: fetchedUrl.optional(),
  GATEWAY_JWT_ISSUER: z.string().min(1).optional(),
  GATEWAY_JWT_AUDIENCE: list.default([]),
  CORS_ORIGINS: list
    .optional()
    .refine(
      (origins) => origins === undefined || origins.every(isOrigin),
      'must list exact origins such as https://app.example.org, without a path; loopback for pages of ' +
        'this machine, or * for all',
    ),
  PERSISTED_OPERATIONS: z.enum(['off', 'allow', 'only']).optional(),
  PERSISTED_OPERATIONS_FILE: z.string().min(1).optional(),
  INTROSPECTION: flag.optional(),
  FEDERATION_TOKEN: secret.optional(),
  MCP_MUTATIONS: flag.default(false),
  WEBHOOK_HOSTS: hostList,
  WEBHOOK_SECRET: webhookSecrets,
  MAX_QUERY_COST: whole(1, 10_000_000).default(12_000),
  MAX_BODY_BYTES: whole(1024, 1_073_741_824).default(16 * 1024 * 1024),
  TRUST_PROXY: whole(0, 10).default(0),
  RATE_LIMIT_PER_MINUTE: whole(0, 10_000_000).default(6000),
  MAX_CONCURRENT_REQUESTS: whole(0, 1_000_000).default(500),
  MAX_SUBSCRIPTIONS: whole(0, 1_000_000).default(100),
  REQUEST_TIMEOUT_MS: whole(100, 3_600_000).default(60_000),
  LOG_LEVEL: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,}$/, `must be ASCII without spaces and have ${LONG_ENOUGH}`)
    .optional(),
  METRICS_PORT: whole(0, 65_535).optional(),
  SHUTDOWN_SECONDS: whole(0, 3600).default(25),
  // `readTraceSettings` checks it: one that is wrong costs the traces, not the gateway.
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  NODE_ENV: z
    .string()
    .refine(
      (name) => !/^prod$/i.test(name) && !isOneMistakeFrom(name, 'production'),
      'must be `production`, written so; with any other word GraphiQL and introspection are open',
    )
    .default('development'),
});

/** Shorter names, such as PORT, are too near to those of other programs. */
const SHORTEST = 7;

/**
 * Variables that are probably meant as settings which are not set, one sentence for each.
 *
 * @param given - names of variables that are set
 */
export const misspelt = (given: readonly string[], settings: readonly string[]): string[] =>
  given.flatMap((name) => {
    const meant = settings.find((setting) => setting.length >= SHORTEST && isOneMistakeFrom(name, setting));
    return settings.includes(name) || meant === undefined || given.includes(meant)
      ? []
      : [`${name}: there is no such setting, so it has no effect; perhaps ${meant} is meant`];
  });
