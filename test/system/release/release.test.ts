// The dry run of a release, and what it makes: packages for npm and PyPI, bills of materials, the
// entry in the MCP registry.
import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { prepareRelease, readManifest, registryName } from '../../../scripts/release/prepare.ts';
import { ROOT } from '../../root.ts';

const run = promisify(execFile);
const LICENCE = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
const { version } = readManifest(ROOT);
const canBuildWheels = [process.env.PYTHON ?? 'python3', '/usr/bin/python3'].some(
  (python) => spawnSync(python, ['-c', 'import setuptools, wheel']).status === 0,
);

const serverSchema = z.object({
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  description: z.string().min(1).max(100),
  version: z.literal(version),
  packages: z.tuple([
    z.object({
      registryType: z.literal('npm'),
      identifier: z.literal('foldatlas'),
      version: z.literal(version),
      transport: z.object({ type: z.literal('stdio') }),
      packageArguments: z.array(z.object({ value: z.string().optional() })),
    }),
  ]),
});

describe('npm run release -- --dry-run', () => {
  const out = mkdtempSync(join(tmpdir(), 'release-'));
  let said = '';

  beforeAll(async () => {
    const { stdout } = await run('npm', ['run', '--silent', 'release', '--', '--dry-run', '--out', out], {
      cwd: ROOT,
    });
    said = stdout;
  });
  afterAll(() => rmSync(out, { recursive: true }));

  const inTarball = async (file: string, path: string): Promise<string> =>
    (await run('tar', ['-xzOf', join(out, file), path], { maxBuffer: 64 * 1024 * 1024 })).stdout;

  it('says what keeps the version from being published', () => {
    const lacking = ['author', 'homepage', 'repository', 'bugs'].filter(
      (name) => !Object.hasOwn(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')), name),
    );
    for (const name of lacking) expect(said).toMatch(new RegExp(`Not ready to publish: .*\\b${name}\\b`));
  });

  it('names the commands of each registry in their order', () => {
    const places = [
      'foldatlas-sandbox-',
      `/foldatlas-${version}.tgz`,
      '-m twine upload',
      'docker build',
      'docker push',
      'mcp-publisher',
    ];
    const commands = said.slice(said.indexOf('would run:'));
    const found = places.map((text) => commands.indexOf(text));
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(found).not.toContain(-1);
    expect(commands).toContain('--provenance --access public');
  });

  it.each([
    'foldatlas',
    'foldatlas-sandbox',
  ])('packs %s with licences and a bill of materials', async (name) => {
    const file = `${name}-${version}.tgz`;
    expect(await inTarball(file, 'package/LICENSE')).toBe(LICENCE);
    expect(await inTarball(file, 'package/dist/THIRD_PARTY_LICENSES.txt')).toContain('zod');
    const bill = await inTarball(file, 'package/dist/sbom.cdx.json');
    expect(JSON.parse(bill)).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name, version } },
    });
    expect(readFileSync(join(out, `${name}.cdx.json`), 'utf8')).toBe(bill);
  });

  it('writes an entry for the MCP registry that fits the package', async () => {
    const server = serverSchema.parse(JSON.parse(readFileSync(join(out, 'server.json'), 'utf8')));
    expect(server.packages[0].packageArguments[0]).toMatchObject({ value: 'mcp' });
    const manifest: unknown = JSON.parse(await inTarball(`foldatlas-${version}.tgz`, 'package/package.json'));
    expect(manifest).toMatchObject({
      mcpName: server.name,
      optionalDependencies: { 'foldatlas-sandbox': version },
    });
  });

  it('ships the skill for agents', async () => {
    const skill = await inTarball(`foldatlas-${version}.tgz`, 'package/skills/foldatlas/SKILL.md');
    expect(skill).toMatch(/^---\nname: foldatlas\ndescription: .+\n/);
  });

  it.skipIf(!canBuildWheels && process.env.CI === undefined)(
    'builds wheel and sdist with their licence',
    async () => {
      expect(await inTarball(`foldatlas-${version}.tar.gz`, `foldatlas-${version}/LICENSE`)).toBe(LICENCE);
      const wheel = join(out, `foldatlas-${version}-py3-none-any.whl`);
      const code =
        'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\n' +
        'print("".join(z.read(n).decode() for n in z.namelist() if n.endswith(("METADATA", "LICENSE"))))';
      const { stdout } = await run('python3', ['-c', code, wheel]);
      expect(stdout).toContain(LICENCE);
      expect(stdout).toMatch(/^License(-Expression)?: MIT$/m);
      expect(stdout).toMatch(/^License-File: LICENSE$/m);
      expect(stdout).toContain(`Version: ${version}`);
    },
  );

  it.each([
    'foldatlas',
    'foldatlas-sandbox',
  ])('packs pages of %s whose links lead to its own files', async (name) => {
    const unpacked = mkdtempSync(join(tmpdir(), 'links-'));
    await run('tar', ['-xzf', join(out, `${name}-${version}.tgz`), '-C', unpacked, '--strip-components=1']);
    const pages = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.md'),
    );
    expect(pages).toContain('README.md');
    const dead = pages.flatMap((path) =>
      [...readFileSync(join(unpacked, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(unpacked, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
    rmSync(unpacked, { recursive: true });
    expect(dead).toEqual([]);
  });

  it('packs no file that git ignores, such as the secrets of a cluster', () => {
    const { files } = z
      .object({ files: z.array(z.string()) })
      .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8').trim().split('\n');
    const inPackage = ignored.filter(
      (path) => !path.endsWith('/') && files.some((file) => path.startsWith(`${file}/`)),
    );
    expect(inPackage).toHaveLength(2);
    for (const path of inPackage) expect(files).toContain(`!${path}`);
  });

  it('leaves the checkout as it was', () => {
    expect(existsSync(join(ROOT, 'releases', `${version}.graphql`))).toBe(
      spawnSync('git', ['ls-files', '--error-unmatch', `releases/${version}.graphql`], { cwd: ROOT })
        .status === 0,
    );
  });
});

describe('prepareRelease', () => {
  const FILES = [
    'package.json',
    'package-lock.json',
    'sandbox/package.json',
    'server.json',
    'CITATION.cff',
    'CHANGELOG.md',
    'schema.graphql',
    'clients/python/pyproject.toml',
    'clients/python/src/foldatlas/__init__.py',
  ];
  const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  beforeAll(() => {
    for (const file of FILES) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(ROOT, file), join(folder, file));
    }
    const manifest: Record<string, unknown> = JSON.parse(read('package.json'));
    const publisher = {
      version: '1.2.3',
      author: { name: 'Ada "A." Example', email: 'ada@example.org' },
      homepage: 'https://example.org/foldatlas',
      repository: { type: 'git', url: 'git+https://github.com/ada/foldatlas.git' },
      bugs: { url: 'https://github.com/ada/foldatlas/issues' },
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, ...publisher }, null, 2));
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## 1.2.3 (not released yet)\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('writes one version and one publisher everywhere, and nothing the second time', () => {
    const changed = prepareRelease(folder, '2027-01-02');
    expect(changed).toEqual(
      expect.arrayContaining([
        ...FILES.filter((file) => file !== 'schema.graphql'),
        'releases/1.2.3.graphql',
      ]),
    );
    expect(prepareRelease(folder, '2027-03-04')).toEqual([]);
    expect(JSON.parse(read('sandbox/package.json'))).toMatchObject({
      version: '1.2.3',
      repository: { url: 'git+https://github.com/ada/foldatlas.git', directory: 'sandbox' },
    });
    expect(JSON.parse(read('server.json'))).toMatchObject({
      name: 'io.github.ada/foldatlas',
      version: '1.2.3',
      packages: [{ version: '1.2.3' }],
    });
    expect(registryName(readManifest(folder))).toBe('io.github.ada/foldatlas');
    expect(read('clients/python/pyproject.toml')).toMatch(
      /version = "1\.2\.3"[\s\S]*authors = \[\{ name = "Ada \\"A\.\\" Example", email = "ada@example\.org" \}\]/,
    );
    expect(read('CITATION.cff')).toContain('date-released: 2027-01-02');
    expect(read('CHANGELOG.md')).toContain('## 1.2.3 (2027-01-02)');
    expect(read('releases/1.2.3.graphql')).toBe(read('schema.graphql'));
    expect(read('package-lock.json')).toMatch(/"foldatlas-sandbox": "1\.2\.3"/);
  });

  it('stands in the checkout with one version already', () => {
    const copies = [
      /"version": "(.*?)"/.exec(readFileSync(join(ROOT, 'sandbox/package.json'), 'utf8'))?.[1],
      /^version = "(.*)"$/m.exec(readFileSync(join(ROOT, 'clients/python/pyproject.toml'), 'utf8'))?.[1],
      /^__version__ = "(.*)"$/m.exec(
        readFileSync(join(ROOT, 'clients/python/src/foldatlas/__init__.py'), 'utf8'),
      )?.[1],
      /"foldatlas-sandbox": "(.*?)"/.exec(readFileSync(join(ROOT, 'package.json'), 'utf8'))?.[1],
      /"version": "(.*?)"/.exec(readFileSync(join(ROOT, 'server.json'), 'utf8'))?.[1],
    ];
    expect(new Set(copies)).toEqual(new Set([version]));
    expect(readdirSync(ROOT)).toContain('CITATION.cff');
  });

  it.each(['sandbox/LICENSE', 'clients/python/LICENSE'])('finds the licence in %s too', (file) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toBe(LICENCE);
  });
});
