// The manifests for running the gateway elsewhere name only what it knows: settings, ports,
// routes, users, files.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@redis/client';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../../src/config.ts';
import { CHECK_MS } from '../../../src/http/routes/health.ts';
import { freePort, NO_REDIS } from '../../store/redis-place.ts';
import { at, listAt } from '../../support.ts';

/** Without it the manifests are not put together; CI has none. */
const NO_KUBECTL = spawnSync('kubectl', ['kustomize', '--help']).status !== 0;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const compose: unknown = parse(read('compose.yaml'));
const FOLDER = 'deploy/kubernetes';
const MANIFESTS = readdirSync(`${ROOT}${FOLDER}`).filter((file) => file.endsWith('.yaml'));
const objects: unknown[] = MANIFESTS.flatMap((file) =>
  parseAllDocuments(read(`${FOLDER}/${file}`)).map((document): unknown => document.toJS()),
);
const findObject = (kind: string, name: string): unknown =>
  objects.find((object) => at(object, 'kind') === kind && at(object, 'metadata.name') === name);

/** Settings that the gateway documents. */
const SETTINGS = new Set(
  [...read('.env.example').matchAll(/^# ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name),
);
const SANDBOX_SETTINGS = read('sandbox/src/environment.ts');

/**
 * `${NAME:-default}` and `${NAME:?hint}` as compose fills them in when nothing but a secret is set.
 */
const filledIn = (value: unknown): string =>
  String(value).replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name, kind, text) =>
    kind === '-' ? text : `${name}-0123456789abcdef`,
  );

function entriesAt(value: unknown, path: string): [string, unknown][] {
  const found = at(value, path);
  if (typeof found !== 'object' || found === null) throw new Error(`nothing at ${path}`);
  return Object.entries(found);
}

describe('the image', () => {
  const text = read('Dockerfile');

  it('copies what exists, lets it through .dockerignore, and does not run as root', () => {
    const sources = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    expect(sources).toContain('src');
    expect(sources).toContain('sandbox/src');
    const passed = read('.dockerignore').split('\n');
    for (const source of sources) {
      expect(existsSync(`${ROOT}${source.replace(/\/\*.*$/, '')}`), source).toBe(true);
      expect(passed, source).toContain(`!${source}`);
    }
    expect(/^USER (\d+):\d+$/m.exec(text)?.[1]).toBe('1000');
  });

  it('starts node without a shell, so that signals reach it', () => {
    const commands = [...text.matchAll(/^CMD (.+)$/gm)].map(([, command = '']): unknown =>
      JSON.parse(command),
    );
    expect(commands).toContainEqual(['node', 'dist/server.js']);
  });

  it('sets only settings that there are', () => {
    const names = [...text.matchAll(/^(?:ENV| {3}) ([A-Z_]+)=/gm)].map(([, name = '']) => name);
    expect(names).toContain('STORE_URL');
    // Node reads the first three, the C library the others.
    const isOther = (name: string): boolean =>
      /^(?:NODE_(?:ENV|COMPILE_CACHE|OPTIONS)|MALLOC_(?:ARENA_MAX|TRIM_THRESHOLD_))$/.test(name);
    for (const name of names)
      expect(isOther(name) || SETTINGS.has(name) || SANDBOX_SETTINGS.includes(`  ${name}:`), name).toBe(true);
  });
});

describe('compose.yaml', () => {
  it('runs two gateways whose settings are whole and right', () => {
    expect(at(compose, 'services.gateway.deploy.replicas')).toBe(2);
    const env = Object.fromEntries(
      entriesAt(compose, 'services.gateway.environment').map(([name, value]) => [name, filledIn(value)]),
    );
    for (const name of Object.keys(env)) expect(SETTINGS.has(name), name).toBe(true);
    // All others come from the file that also holds what compose fills in, which the gateway has to
    // let pass.
    expect(at(compose, 'services.gateway.env_file')).toEqual([{ path: '.env', required: false }]);
    expect(
      readConfig({ VALKEY_PASSWORD: 'of another process', ...env, NODE_ENV: 'production', HOST: '0.0.0.0' }),
    ).toMatchObject({
      STORE_URL: 'redis://:VALKEY_PASSWORD-0123456789abcdef@cache:6379/0',
      LEDGER_URL: 'redis://:VALKEY_PASSWORD-0123456789abcdef@valkey:6379/0',
      UPSTREAM_URL: 'http://sandbox:4010',
      TRUST_PROXY: 1,
    });
  });

  it('gives the sandbox settings that it has', () => {
    for (const [name] of entriesAt(compose, 'services.sandbox.environment'))
      expect(SANDBOX_SETTINGS, name).toContain(`  ${name}:`);
  });

  it('limits the memory of every service that callers can fill', () => {
    for (const name of ['gateway', 'valkey', 'cache'])
      expect(at(compose, `services.${name}.mem_limit`), name).toMatch(/^\d+m$/);
  });

  it('waits longer for the end than the gateway does', () => {
    const grace = Number.parseInt(String(at(compose, 'services.gateway.stop_grace_period')), 10);
    expect(grace).toBeGreaterThan(readConfig({}).SHUTDOWN_SECONDS);
  });
});

describe('the images', () => {
  it('are pinned by digest, all but the one that is built here and those of Node and nginx', () => {
    const images = [
      ...entriesAt(compose, 'services').map(([, service]) => String(at(service, 'image'))),
      ...[...objects, compose].flatMap((object) => {
        const containers = at(object, 'spec.template.spec.containers');
        return Array.isArray(containers) ? containers.map((one) => String(at(one, 'image'))) : [];
      }),
    ].filter((image) => !image.startsWith('foldatlas'));
    const [proxies, pinned] = [true, false].map((isProxy) =>
      images.filter((image) => image.startsWith('nginx:') === isProxy),
    );
    expect(proxies).toEqual([expect.stringMatching(/^nginx:1\.\d+-alpine$/)]);
    expect(pinned?.length).toBeGreaterThan(3);
    for (const image of pinned ?? []) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    // One version, wherever it is named.
    expect(new Set(pinned).size).toBe(1);
  });

  it('have an exact version of Node, with the fixes of 24.18.1', () => {
    const images = [...read('Dockerfile').matchAll(/^ARG NODE_IMAGE=(.+)$/gm)].map(([, image]) => image);
    expect(images).toEqual([expect.stringMatching(/^node:24\.\d+\.\d+-trixie-slim(@sha256:[0-9a-f]{64})?$/)]);
    const [, minor, patch] = /:24\.(\d+)\.(\d+)/.exec(images[0] ?? '') ?? [];
    expect(Number(minor) * 1000 + Number(patch)).toBeGreaterThanOrEqual(18_001);
  });
});

describe.skipIf(NO_REDIS)('Valkey as it is shipped', () => {
  const readCommand = (kind: string, name: string) =>
    listAt(findObject(kind, name), 'spec.template.spec.containers.0.args')
      .join(' ')
      .replace(/ --dir \S+/, '');
  const commands: readonly (readonly [string, string, string])[] = [
    ['compose', 'valkey', String(listAt(compose, 'services.valkey.command').at(-1)).replaceAll('$$', '$')],
    ['compose', 'cache', String(listAt(compose, 'services.cache.command').at(-1)).replaceAll('$$', '$')],
    ['Kubernetes', 'valkey', readCommand('StatefulSet', 'valkey')],
    ['Kubernetes', 'cache', readCommand('Deployment', 'cache')],
  ];

  it.each(
    commands,
  )('%s: %s asks for its password, has a limit, and evicts only what can be fetched again', async (_, name, command) => {
    const folder = mkdtempSync(join(tmpdir(), 'valkey-'));
    const port = await freePort();
    const child = spawn(
      'sh',
      ['-c', `${command.replace('valkey-server', 'redis-server')} --port ${port} --dir ${folder}`],
      {
        env: { PATH: process.env.PATH, VALKEY_PASSWORD: 'a-password' },
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      },
    );
    try {
      await new Promise<void>((resolve, reject) => {
        child.once('exit', () => reject(new Error(`it does not start: ${command}`)));
        child.stdout?.on('data', (text: Buffer) => {
          if (text.includes('Ready to accept connections')) resolve();
        });
      });
      const stranger = createClient({ url: `redis://127.0.0.1:${port}` });
      stranger.on('error', () => undefined);
      await stranger.connect();
      await expect(stranger.get('x')).rejects.toThrow(/NOAUTH/);
      stranger.destroy();
      const client = createClient({ url: `redis://:a-password@127.0.0.1:${port}` });
      client.on('error', () => undefined);
      await client.connect();
      const settings = await client.configGet(['maxmemory', 'maxmemory-policy', 'appendonly', 'appendfsync']);
      const kept = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' };
      expect(settings).toMatchObject(
        name === 'valkey' ? kept : { 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' },
      );
      expect(Number(settings.maxmemory)).toBeGreaterThan(200_000_000);
      client.destroy();
    } finally {
      child.removeAllListeners('exit');
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the Kubernetes manifests', () => {
  const deployment = findObject('Deployment', 'gateway');
  const pod = at(deployment, 'spec.template.spec');
  const container = at(pod, 'containers.0');

  it('are all of them in the kustomization, the example of the secret aside', () => {
    const listed = listAt(
      findObject('Kustomization', 'x') ?? parse(read(`${FOLDER}/kustomization.yaml`)),
      'resources',
    );
    const files = MANIFESTS.map((file) => file.replace('.example', ''));
    // The Gateway API in place of the Ingress.
    const instead = 'httproute.yaml';
    expect(read(`${FOLDER}/kustomization.yaml`)).toContain(`# - ${instead}`);
    expect(files.filter((file) => ![instead, 'kustomization.yaml'].includes(file)).sort()).toEqual(
      [...new Set(listed)].sort(),
    );
  });

  it('set settings that there are, from a secret that has them', () => {
    const secret = entriesAt(findObject('Secret', 'foldatlas'), 'stringData').map(([name]) => name);
    const fromSecret = listAt(container, 'env').map((entry) => String(at(entry, 'name')));
    for (const name of fromSecret) expect(secret).toContain(name);
    // Others may be added to either.
    expect(listAt(container, 'envFrom')).toEqual([
      { configMapRef: { name: 'foldatlas' } },
      { secretRef: { name: 'foldatlas' } },
    ]);
    const open = [...read(`${FOLDER}/settings.example.env`).matchAll(/^([A-Z_]+)=(.+)$/gm)].map(
      ([, key = '', value = '']): [string, string] => [key, value],
    );
    for (const name of [...fromSecret, ...open.map(([key]) => key)])
      expect(SETTINGS.has(name), name).toBe(true);
    expect(
      readConfig({
        ...Object.fromEntries(open),
        NODE_ENV: 'production',
        HOST: '0.0.0.0',
        STORE_URL: 'redis://:secret@cache:6379/0',
        LEDGER_URL: 'redis://:secret@valkey:6379/0',
        GATEWAY_SECRET: '0123456789abcdef0123',
        METRICS_TOKEN: '0123456789abcdef0123',
      }).REQUIRE_UPSTREAM,
    ).toBe(true);
  });

  it.skipIf(NO_KUBECTL)('are whole once the files that the guide names are written', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));
    cpSync(`${ROOT}${FOLDER}`, folder, { recursive: true });
    for (const name of ['settings.env', 'secret.yaml'])
      cpSync(join(folder, name.replace('.', '.example.')), join(folder, name));
    const settingsFile = join(folder, 'settings.env');
    const withPort = readFileSync(settingsFile, 'utf8').replace(/^(PUBLIC_URL=.*)$/m, '$1:8443/');
    writeFileSync(settingsFile, withPort);
    const built = parseAllDocuments(execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })).map(
      (document): unknown => document.toJS(),
    );
    rmSync(folder, { recursive: true });
    const of = (kind: string) =>
      built.find(
        (object) =>
          at(object, 'kind') === kind && /^(gateway|foldatlas)/.test(String(at(object, 'metadata.name'))),
      );
    const gateway = of('Deployment');
    expect(at(of('Ingress'), 'spec.rules.0.host')).toBe('foldatlas.example.org');
    expect(at(of('Ingress'), 'spec.tls.0.hosts')).toEqual(['foldatlas.example.org']);
    expect(at(of('Ingress'), 'spec.rules.0.http.paths.0.backend.service')).toEqual({
      name: 'gateway',
      port: { name: at(of('Service'), 'spec.ports.0.name') },
    });
    expect(at(gateway, 'spec.template.spec.containers.0.image')).toBe('registry.example.org/foldatlas:1.0.0');
    // Named by its content, so that another setting rolls the gateways out again.
    const settings = at(of('ConfigMap'), 'metadata.name');
    expect(settings).toMatch(/^foldatlas-\w+$/);
    expect(at(gateway, 'spec.template.spec.containers.0.envFrom.0.configMapRef.name')).toBe(settings);
  });

  it('ask the routes that say what is meant', () => {
    expect(at(container, 'startupProbe.httpGet.path')).toBe('/ready');
    expect(at(container, 'startupProbe.timeoutSeconds')).toBeGreaterThan(CHECK_MS / 1000);
    // Gateways that miss their store all go on with what needs none.
    for (const probe of ['livenessProbe', 'readinessProbe'])
      expect(at(container, `${probe}.httpGet.path`), probe).toBe('/health');
    expect(at(container, 'ports.0.containerPort')).toBe(readConfig({}).PORT);
  });

  it('lead to the gateways by an Ingress or an HTTPRoute that no controller reads in a way of its own', () => {
    const service = findObject('Service', 'gateway');
    const ingress = findObject('Ingress', 'gateway');
    const route = findObject('HTTPRoute', 'gateway');
    // Annotations that controllers read have a prefix.
    for (const object of objects)
      expect(
        Object.keys(at(object, 'metadata.annotations') ?? {}).filter((name) => name.includes('/')),
      ).toEqual([]);
    expect(at(ingress, 'spec.rules.0.http.paths.0.backend.service')).toEqual({
      name: 'gateway',
      port: { name: at(service, 'spec.ports.0.name') },
    });
    expect(at(route, 'spec.rules.0.backendRefs')).toEqual([
      { name: 'gateway', port: at(service, 'spec.ports.0.port') },
    ]);
  });

  it('give pods no rights, and time to end', () => {
    expect(at(pod, 'enableServiceLinks')).toBe(false);
    expect(at(pod, 'securityContext.runAsNonRoot')).toBe(true);
    expect(at(container, 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const pause = 5;
    expect(at(pod, 'terminationGracePeriodSeconds')).toBeGreaterThan(readConfig({}).SHUTDOWN_SECONDS + pause);
  });

  it('select the pods that they mean', () => {
    const labels = at(deployment, 'spec.template.metadata.labels');
    expect(at(findObject('Service', 'gateway'), 'spec.selector')).toEqual(labels);
    expect(at(findObject('PodDisruptionBudget', 'gateway'), 'spec.selector.matchLabels')).toEqual(labels);
    expect(
      at(findObject('NetworkPolicy', 'valkey'), 'spec.ingress.0.from.0.podSelector.matchLabels'),
    ).toEqual(labels);
  });
});
