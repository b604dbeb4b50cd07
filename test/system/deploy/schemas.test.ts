// Files for other programs, checked by these programs' own rules: compose.yaml by the schema of the
// Compose Specification, Kubernetes objects by those of its API, alert rules by promtool, the
// proxy's file by nginx.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../../root.ts';
import { at } from '../../support.ts';

const require = createRequire(import.meta.url);
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
/** A command is skipped where it is missing, never on CI. */
const lacks = (command: string, flag: string): boolean =>
  process.env.CI === undefined && spawnSync(command, [flag]).error !== undefined;

describe('compose.yaml', () => {
  const file = join(require.resolve('dclint/package.json'), '../schemas/compose.schema.json');
  // Named by an address that ajv does not know for the same draft.
  const { $schema: _, ...schema } = JSON.parse(readFileSync(file, 'utf8'));
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);

  it('is what the Compose Specification allows', () => {
    expect([validate(parse(read('compose.yaml'))), validate.errors]).toEqual([true, null]);
  });

  it('is refused with a word that Compose does not know', () => {
    expect(validate(parse(read('compose.yaml').replace('restart:', 'restarts:')))).toBe(false);
  });
});

/** Where the models of an API stand. */
const findModel = (apiVersion: string, kind: string): string => {
  const [group = ''] = apiVersion.split('/');
  if (group === 'gateway.networking.k8s.io') return `@kubernetes-models/gateway-api/${apiVersion}/${kind}`;
  if (group === 'monitoring.coreos.com')
    return `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`;
  return `kubernetes-models/${apiVersion}/${kind}`;
};

interface Model {
  new (object: unknown): { validate(): void };
}

describe('the Kubernetes objects', () => {
  const files = [
    ...readdirSync(`${ROOT}deploy/kubernetes`)
      .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
      .map((file) => `deploy/kubernetes/${file}`),
    'deploy/monitoring/service-monitor.yaml',
  ];
  const objects = files.flatMap((file) =>
    // As kustomize fills it in.
    parseAllDocuments(read(file).replaceAll('PUBLIC_URL', 'foldatlas.example.org')).map(
      (document): [string, string, unknown] => {
        const object: unknown = document.toJS();
        return [String(at(object, 'apiVersion')), String(at(object, 'kind')), object];
      },
    ),
  );
  const load = async (apiVersion: string, kind: string): Promise<Model> =>
    at(await import(findModel(apiVersion, kind)), kind) as Model;

  it.each(objects)('of %s %s are what the API allows', async (apiVersion, kind, object) => {
    const Model = await load(apiVersion, kind);
    expect(() => new Model(object).validate()).not.toThrow();
  });

  it('are refused with a value of another type', async () => {
    const [apiVersion, kind, object] = objects.find(([, kind]) => kind === 'Deployment') ?? [];
    const Model = await load(String(apiVersion), String(kind));
    const wrong = JSON.parse(JSON.stringify(object).replace('"replicas":2', '"replicas":"2"'));
    expect(() => new Model(wrong).validate()).toThrow(/replicas/);
  });
});

describe('the alert rules', () => {
  it.skipIf(lacks('promtool', '--version'))('are what Prometheus reads', () => {
    expect(
      execFileSync('promtool', ['check', 'rules', `${ROOT}deploy/monitoring/alerts.yaml`], {
        encoding: 'utf8',
      }),
    ).toMatch(/SUCCESS: \d+ rules found/);
  });
});

describe('the file of the proxy', () => {
  it.skipIf(lacks('nginx', '-v'))('is what nginx reads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'foldatlas-nginx-'));
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, read('deploy/nginx.conf').replaceAll('/tmp/', `${folder}/`));
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', file, '-p', folder], { encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    expect([status, stderr]).toEqual([0, expect.stringContaining('test is successful')]);
  });
});
