// The configuration names every problem at once and refuses what would give credits away.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError, readConfig } from '../src/config.ts';

const findProblems = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('readConfig', () => {
  it('needs nothing and then serves loopback over the sandbox', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ HOST: '127.0.0.1', PORT: 4000, INTROSPECTION: true });
    expect(config.UPSTREAM_URL).toBeUndefined();
  });

  it('names every problem at once, each with its variable', () => {
    const problems = findProblems({ PORT: '99999', UPSTREAM_URL: 'ftp://x', MAX_QUERY_COST: 'high' });
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toMatch(/PORT: must be between[\s\S]*/);
    expect(problems.map((p) => p.split(':')[0]).sort()).toEqual(['MAX_QUERY_COST', 'PORT', 'UPSTREAM_URL']);
  });

  it('names what is wrong with files beside what is wrong with values', () => {
    const problems = findProblems({
      PORT: '99999',
      GATEWAY_SECRET_FILE: 'no-secret',
      GATEWAY_API_KEYS_FILE: 'no-keys',
    });
    expect(problems.map((p) => p.split(':')[0])).toEqual([
      'PORT',
      'GATEWAY_SECRET_FILE',
      'GATEWAY_API_KEYS_FILE',
    ]);
  });

  it('takes no white space around a value for a part of it, such as the end of a line in a secret', () => {
    expect(
      readConfig({
        UPSTREAM_URL: ' https://api.example.org/\n',
        UPSTREAM_API_KEY: 'key\n',
        PORT: '4001\r',
        NODE_ENV: 'production\r',
      }),
    ).toMatchObject({
      UPSTREAM_URL: 'https://api.example.org',
      UPSTREAM_API_KEY: 'key',
      PORT: 4001,
      isProduction: true,
    });
    expect(readConfig({ PUBLIC_URL: ' ' }).PUBLIC_URL).toBeUndefined();
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'secret');
    writeFileSync(file, 'of sixteen letters\n');
    expect(readConfig({ GATEWAY_SECRET_FILE: file }).GATEWAY_SECRET).toBe('of sixteen letters');
    for (const word of ['1', 'true', 'on', 'yes'])
      expect(readConfig({ REQUIRE_UPSTREAM: word, UPSTREAM_URL: 'http://h' }).REQUIRE_UPSTREAM).toBe(true);
    // A secret with a line break at its end must still open its ledger.
    const secret = 'a secret of sixteen or more\n';
    expect(readConfig({ GATEWAY_SECRET: secret }).GATEWAY_SECRET).toBe(secret);
    expect(findProblems({ UPSTREAM_API_KEY: 'a key\u2026' })).toEqual([
      expect.stringMatching(/^UPSTREAM_API_KEY: must have no spaces/),
    ]);
  });

  it('takes a list of former secrets, with or without spaces, and one that has a comma itself', () => {
    const [a, b] = ['a first secret of before', 'a second secret of before'];
    const read = (text: string) => readConfig({ GATEWAY_SECRET_PREVIOUS: text }).GATEWAY_SECRET_PREVIOUS;
    expect(read('')).toBeUndefined();
    expect(read(a)).toEqual([a]);
    expect(read(`${a}, ${b}`)).toEqual(expect.arrayContaining([a, b]));
    expect(read(`${a},${b},`)).toEqual(expect.arrayContaining([a, b]));
    expect(read('short,but long together')).toContain('short,but long together');
    expect(() => read('short, too')).toThrow(/GATEWAY_SECRET_PREVIOUS: must list secrets/);
  });

  it('refuses addresses whose parts would be lost on the way', () => {
    for (const name of ['UPSTREAM_URL', 'PUBLIC_URL'])
      for (const url of [
        'https://user:hunter2@api.example.org',
        'https://key@api.example.org',
        'https://api.example.org/?key=hunter2',
        'https://api.example.org/#docs',
      ]) {
        const problems = findProblems({ [name]: url });
        expect(problems, url).toEqual([expect.stringContaining(`${name}: must have no user, password`)]);
        expect(problems.join()).not.toContain('hunter2');
      }
    expect(readConfig({ UPSTREAM_URL: 'https://api.example.org/v2/' }).UPSTREAM_URL).toBe(
      'https://api.example.org/v2',
    );
  });

  it('takes hosts that downloads may come from in the form of addresses, and no other', () => {
    expect(readConfig({ DOWNLOAD_HOSTS: 'Files.Example.org, minio:9000,[::1]:81' }).DOWNLOAD_HOSTS).toEqual([
      'files.example.org',
      'minio:9000',
      '[::1]:81',
    ]);
    for (const host of ['http://minio:9000', 'minio/', 'minio:443', 'minio:80', '::1', 'a b', '*.files.org'])
      expect(findProblems({ DOWNLOAD_HOSTS: host }), host).toEqual([
        expect.stringMatching(/^DOWNLOAD_HOSTS: must list hosts/),
      ]);
  });

  it('takes hosts for webhooks with a secret, and hosts of this machine over the embedded sandbox only', () => {
    const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24).toString('base64')}`;
    const local = { WEBHOOK_HOSTS: 'localhost:9000', WEBHOOK_SECRET };
    expect(readConfig(local).WEBHOOK_HOSTS).toEqual(['localhost:9000']);
    expect(findProblems({ ...local, UPSTREAM_URL: 'https://api.example.org' })).toEqual([
      expect.stringMatching(/^WEBHOOK_HOSTS: hosts of this machine/),
    ]);
    expect(findProblems({ WEBHOOK_HOSTS: 'hooks.example.org' })).toEqual([
      expect.stringMatching(/^WEBHOOK_SECRET: is needed/),
    ]);
    for (const secret of ['short', 'whsec_c2hvcnQ=', WEBHOOK_SECRET.slice(6), `${WEBHOOK_SECRET},whsec_`])
      expect(findProblems({ WEBHOOK_SECRET: secret }), secret).toEqual([
        expect.stringMatching(/^WEBHOOK_SECRET: must be whsec_ and 24 to 64 bytes in base64/),
      ]);
  });

  it('refuses a server-held key on an open address without keys of its own', () => {
    expect(findProblems({ UPSTREAM_API_KEY: 'k', HOST: '0.0.0.0' })).toHaveLength(1);
    expect(
      findProblems({
        UPSTREAM_API_KEY: 'k',
        HOST: '0.0.0.0',
        GATEWAY_API_KEYS: 'first-key-of-this-test,second-key-of-this-test',
      }),
    ).toEqual([]);
    expect(findProblems({ UPSTREAM_API_KEY: 'k' })).toEqual([]);
  });

  it('refuses a server-held key without proof of callers behind a proxy, and says what to set', () => {
    const proxied: Record<string, string>[] = [
      { PUBLIC_URL: 'https://fold.example' },
      { TRUST_PROXY: '1' },
      { PUBLIC_URL: 'http://127.0.0.1:4000', TRUST_PROXY: '1' },
    ];
    for (const env of proxied) {
      expect(findProblems({ ...env, UPSTREAM_API_KEY: 'k' })).toEqual([
        expect.stringContaining(`UPSTREAM_API_KEY: with ${Object.keys(env).join(' and ')} anybody`),
      ]);
      expect(findProblems({ ...env, UPSTREAM_API_KEY: 'k' })[0]).toMatch(
        /set GATEWAY_API_KEYS,.*or GATEWAY_JWKS_URL/,
      );
      expect(findProblems(env)).toEqual([]);
      expect(findProblems({ ...env, UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS: 'a-key-of-this-test' })).toEqual(
        [],
      );
    }
  });

  it('takes only what is this machine for loopback, never a name that begins like it', () => {
    for (const HOST of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])
      expect(findProblems({ UPSTREAM_API_KEY: 'k', HOST }), HOST).toEqual([]);
    for (const HOST of [
      '127.x.evil',
      '127.0.0.1.evil.example',
      'localhost.evil',
      '::ffff:10.0.0.1',
      '0.0.0.0',
    ])
      expect(findProblems({ UPSTREAM_API_KEY: 'k', HOST }), HOST).toHaveLength(1);
    const jwt = {
      UPSTREAM_API_KEY: 'k',
      GATEWAY_JWT_ISSUER: 'me',
      GATEWAY_JWT_AUDIENCE: 'a',
    };
    for (const host of ['127.0.0.1:81', '[::1]:81', 'localhost'])
      expect(findProblems({ ...jwt, GATEWAY_JWKS_URL: `http://${host}/jwks` }), host).toEqual([]);
    expect(findProblems({ ...jwt, GATEWAY_JWKS_URL: 'http://127.x.evil/jwks' })).toHaveLength(1);
  });

  it('refuses keys that are easily guessed, says how to make one, and quotes none', () => {
    const problems = findProblems({
      UPSTREAM_API_KEY: 'k',
      GATEWAY_API_KEYS: 'long-enough-key-of-this-test,x,bob hunter2',
    });
    expect(problems).toEqual([
      expect.stringMatching(/^GATEWAY_API_KEYS: key 2 has 1 character.* at least 16.*openssl rand/),
      expect.stringMatching(/^GATEWAY_API_KEYS: key 3 has 7 character.* at least 16.*openssl rand/),
    ]);
    expect(problems.join()).not.toContain('hunter2');
    const listed = (keys: string) => findProblems({ UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS: keys });
    expect(listed('sixteen-letters-')).toEqual([]);
    expect(listed('bob long-enough-key-of-this-test more')).toEqual([
      'GATEWAY_API_KEYS: each must be a key, or a name and a key',
    ]);
  });

  it('refuses one key of two callers, who would see the batches of each other', () => {
    const key = 'long-enough-key-of-this-test';
    expect(findProblems({ UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS: `alice ${key}, bob ${key}` })).toEqual([
      'GATEWAY_API_KEYS: key 2 is listed under another name too',
    ]);
    expect(findProblems({ UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS: `alice ${key}, alice ${key}` })).toEqual(
      [],
    );
    const folder = mkdtempSync(join(tmpdir(), 'foldatlas-keys-'));
    const file = join(folder, 'keys');
    writeFileSync(file, `# of the others\nbob ${key}\n`);
    const both = { UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS_FILE: file };
    expect(findProblems({ ...both, GATEWAY_API_KEYS: `alice ${key}` })).toEqual([
      `GATEWAY_API_KEYS_FILE: ${file}, line 2: this key is listed under another name too`,
    ]);
    expect(findProblems({ ...both, GATEWAY_API_KEYS: `bob ${key}` })).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('refuses keys that clients cannot all send', () => {
    const secret = 'schlüssel-für-alle-rechner';
    expect(
      findProblems({
        UPSTREAM_API_KEY: 'k',
        GATEWAY_API_KEYS: secret,
        METRICS_TOKEN: secret,
      }),
    ).toEqual([
      expect.stringMatching(/^GATEWAY_API_KEYS: key 1 has characters beyond ASCII/),
      expect.stringMatching(/^METRICS_TOKEN: must be ASCII without spaces/),
    ]);
  });

  it('refuses settings that seem to protect and have no effect', () => {
    const jwt = { GATEWAY_JWT_ISSUER: 'https://login.example/', GATEWAY_JWT_AUDIENCE: 'foldatlas' };
    for (const env of [jwt, { ...jwt, UPSTREAM_API_KEY: 'k' }, { GATEWAY_JWT_AUDIENCE: 'foldatlas' }])
      expect(findProblems(env)).toEqual([expect.stringMatching(/^GATEWAY_JWKS_URL: is needed with/)]);
    const list = { PERSISTED_OPERATIONS_FILE: 'operations/persisted-operations.json' };
    expect(findProblems(list)).toEqual([expect.stringMatching(/^PERSISTED_OPERATIONS_FILE: without PERS/)]);
    // A setting that is off needs no list, nor one that can be read.
    const off = { PERSISTED_OPERATIONS: 'off' };
    for (const env of [off, { ...off, PERSISTED_OPERATIONS_FILE: '/nowhere' }])
      expect(findProblems(env)).toEqual([]);
    for (const PERSISTED_OPERATIONS of ['off', 'allow', 'only'])
      expect(findProblems({ ...list, PERSISTED_OPERATIONS })).toEqual([]);
    // Two variables that are not set leave this.
    expect(findProblems({ UPSTREAM_API_KEY: 'k', GATEWAY_API_KEYS: ', ' })).toEqual([
      'GATEWAY_API_KEYS: must list a key, or be left out',
    ]);
    for (const user of ['user:hunter2', 'user', ':hunter2']) {
      const problems = findProblems({
        ...jwt,
        UPSTREAM_API_KEY: 'k',
        GATEWAY_JWKS_URL: `https://${user}@login.example/jwks`,
      });
      expect(problems).toEqual([expect.stringMatching(/^GATEWAY_JWKS_URL: must have no user or password/)]);
      expect(problems.join()).not.toContain('hunter2');
    }
  });

  it('warns of names of settings with a mistake, where the right one is not set, and of no other names', () => {
    for (const [name, meant] of [
      ['GATEWAY_API_KEY', 'GATEWAY_API_KEYS'],
      ['GATEWAY_JWKS_URI', 'GATEWAY_JWKS_URL'],
      ['GATEWAY_JWT_ISUSER', 'GATEWAY_JWT_ISSUER'],
      ['CORS_ORIGIN', 'CORS_ORIGINS'],
      ['Introspection', 'INTROSPECTION'],
      ['INTROSPECTON', 'INTROSPECTION'],
      ['REQUIRE__UPSTREAM', 'REQUIRE_UPSTREAM'],
    ] as const)
      expect(readConfig({ [name]: '0' }).warnings).toEqual([
        `${name}: there is no such setting, so it has no effect; perhaps ${meant} is meant`,
      ]);
    const others = {
      CORS_ORIGIN: 'https://other.example',
      CORS_ORIGINS: 'https://app.example',
      HOSTS: 'x',
      POST: 'x',
      AS: 'as',
      TO: 'x',
      GATEWAY_PORT: 'tcp://10.0.0.1:80',
      GATEWAY_SERVICE_HOST: '10.0.0.1',
      SANDBOX_HOST: '0.0.0.0',
      SANDBOX_SEED: '1',
      SANDBOX_PUBLIC_URL: 'http://sandbox:4010',
      OTEL_TRACES_SAMPLER: 'always_on',
      FOLDATLAS_URL: 'http://127.0.0.1:4000',
      FOLDATLAS_TOKEN: 't',
    };
    expect(readConfig(others).warnings).toEqual([]);
  });

  it('warns of a proxy on the way to the service, which it does not use', () => {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'])
      expect(readConfig({ [name]: 'http://127.0.0.1:3128' }).warnings).toEqual([
        `${name}: the gateway connects to the service directly, so this has no effect`,
      ]);
    expect(readConfig({ NO_PROXY: '*', HTTP_PROXY: '' }).warnings).toEqual([]);
  });

  it('takes no word for NODE_ENV that seems to be production', () => {
    for (const NODE_ENV of ['Production', 'PRODUCTION', 'prod', 'Prod', 'poduction', 'producton'])
      expect(findProblems({ NODE_ENV }), NODE_ENV).toEqual([
        expect.stringMatching(/^NODE_ENV: must be `prod/),
      ]);
    for (const NODE_ENV of ['development', 'test', 'staging', 'preproduction'])
      expect(readConfig({ NODE_ENV }).isProduction, NODE_ENV).toBe(false);
  });

  it('takes any way of proof for the server-held key, and none without one', () => {
    const open = { UPSTREAM_API_KEY: 'k', HOST: '0.0.0.0' };
    const jwt = {
      GATEWAY_JWKS_URL: 'https://login.example/jwks',
      GATEWAY_JWT_ISSUER: 'me',
      GATEWAY_JWT_AUDIENCE: 'a',
    };
    expect(findProblems({ ...open, ...jwt })).toEqual([]);
    expect(findProblems({ GATEWAY_API_KEYS: 'first-key-of-this-test' })).toEqual([
      expect.stringContaining('set UPSTREAM_API_KEY'),
    ]);
    expect(findProblems({ ...open, GATEWAY_API_KEYS: 'one two three' })).toEqual([
      expect.stringMatching(/^GATEWAY_API_KEYS: /),
    ]);
    expect(findProblems({ ...open, GATEWAY_API_KEYS_FILE: '/nowhere/keys' })).toEqual([
      expect.stringMatching(/^GATEWAY_API_KEYS_FILE: .*ENOENT/),
    ]);
    expect(
      findProblems({ ...open, GATEWAY_JWKS_URL: 'http://login.example/jwks' }).map((p) => p.split(':')[0]),
    ).toEqual(['GATEWAY_JWKS_URL', 'GATEWAY_JWT_ISSUER', 'GATEWAY_JWT_AUDIENCE']);
  });

  it('refuses to fall back to the sandbox when told so', () => {
    expect(findProblems({ REQUIRE_UPSTREAM: '1' })[0]).toMatch(/UPSTREAM_URL/);
  });

  it('refuses one name for two fields of a request to List', () => {
    for (const fields of ['cursor, cursor', 'page_size, batch_id', 'status, after'])
      expect(findProblems({ UPSTREAM_LIST_FIELDS: fields })).toEqual([
        expect.stringMatching(/^UPSTREAM_LIST_FIELDS: must differ/),
      ]);
    for (const name of ['UPSTREAM_LIST_FIELDS', 'UPSTREAM_THUMBNAILS'])
      for (const value of ['one', 'a, b, c', ', ,'])
        expect(findProblems({ [name]: value }), value).toEqual([
          `${name}: must be two names, separated by a comma`,
        ]);
    expect(readConfig({ UPSTREAM_LIST_FIELDS: 'cursor, after' }).UPSTREAM_LIST_FIELDS).toEqual([
      'cursor',
      'after',
    ]);
  });

  it('refuses one port for GraphQL and its metrics apart', () => {
    expect(findProblems({ METRICS_PORT: '4000' })).toEqual([expect.stringMatching(/^METRICS_PORT: is PORT/)]);
    expect(findProblems({ METRICS_PORT: '0', PORT: '0' })).toEqual([]);
  });

  it('closes GraphiQL and introspection in production unless asked', () => {
    expect(readConfig({ NODE_ENV: 'production' })).toMatchObject({ INTROSPECTION: false });
    expect(readConfig({ NODE_ENV: 'production', INTROSPECTION: '1' }).INTROSPECTION).toBe(true);
  });

  it('keeps the ledger where STORE_URL says, also in Redis, then with a secret that all share', () => {
    const secret = { GATEWAY_SECRET: 'a secret of sixteen or more' };
    expect(readConfig({}).LEDGER_URL).toBe('sqlite:.data/gateway.db');
    expect(readConfig({ STORE_URL: 'redis://h:6379/3', ...secret }).LEDGER_URL).toBe('redis://h:6379/3');
    expect(readConfig({ STORE_URL: 'rediss://u:p@h', ...secret }).LEDGER_URL).toBe('rediss://u:p@h');
    expect(findProblems({ STORE_URL: 'redis://h' })).toEqual([expect.stringMatching(/^GATEWAY_SECRET: /)]);
    expect(findProblems({ STORE_URL: 'redis://h', LEDGER_URL: 'memory:' })).toEqual([]);
    expect(findProblems({ ...secret, GATEWAY_SECRET_FILE: 'package.json' })).toEqual([
      expect.stringMatching(/not both/),
    ]);
    expect(findProblems({ GATEWAY_SECRET_FILE: '/dev/null' })).toEqual([
      expect.stringMatching(/openssl rand/),
    ]);
    expect(readConfig({ GATEWAY_SECRET_FILE: 'LICENSE', STORE_URL: 'redis://h' }).GATEWAY_SECRET).toMatch(
      /^MIT License/,
    );
    for (const STORE_URL of ['redis://', 'redis://h/name', 'redis://h:port', 'postgres://h', 'redis:h'])
      expect(findProblems({ STORE_URL, ...secret }), STORE_URL).toEqual([
        expect.stringMatching(/^STORE_URL: /),
      ]);
  });
});
