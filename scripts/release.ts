// npm run release -- --prepare    writes version, publisher and date everywhere, to be committed
// npm run release -- --dry-run    prepares and packs a copy of the checkout; publishes nothing
// npm run release                 publishes a prepared, committed and tagged version
// Options: --out FOLDER for what is made (default .data/release), --images to build them in a dry
// run.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { missingFields, prepareRelease, readManifest, registryName } from './release/prepare.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TODAY = new Date().toISOString().slice(0, 10);

const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    prepare: { type: 'boolean', default: false },
    images: { type: 'boolean', default: false },
    out: { type: 'string', default: join(ROOT, '.data/release') },
  },
});
const isDry = options['dry-run'];
const out = resolve(options.out);
const say = (line: string): void => console.log(line);

function run(folder: string, command: string, args: readonly string[]): void {
  say(`$ ${[command, ...args].join(' ')}`);
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** A copy of the files that git has, or would add, beside the packages that are installed. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'foldatlas-release-'));
  const listed = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  for (const file of listed) {
    if (file === '' || !existsSync(join(ROOT, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(copy, file));
  }
  for (const folder of ['node_modules', 'sandbox/node_modules'])
    if (existsSync(join(ROOT, folder))) symlinkSync(join(ROOT, folder), join(copy, folder), 'junction');
  return copy;
}

/** A Python that can build a wheel, and its setuptools; undefined where there is none. */
function findPython(): { python: string; setuptools: number } | undefined {
  // setuptools 70.1 and newer make wheels themselves.
  const code =
    'import setuptools; v = int(setuptools.__version__.split(".")[0])\nif v < 71: import wheel\nprint(v)';
  for (const python of [process.env.PYTHON ?? 'python3', '/usr/bin/python3']) {
    const { status, stdout } = spawnSync(python, ['-c', code], { encoding: 'utf8' });
    if (status === 0) return { python, setuptools: Number(stdout) };
  }
  return undefined;
}

/** Builds sdist and wheel by the build system's own two functions, in a copy of the folder. */
function buildPython(root: string, python: string): void {
  const work = mkdtempSync(join(tmpdir(), 'foldatlas-python-'));
  cpSync(join(root, 'clients/python'), work, { recursive: true });
  const code =
    'import sys; from setuptools import build_meta; out = sys.argv[1]; build_meta.build_sdist(out); build_meta.build_wheel(out)';
  run(work, python, ['-c', code, out]);
  rmSync(work, { recursive: true });
}

/** Everything that is uploaded, into `out`. */
function make(root: string, python: string | undefined): void {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  run(root, process.execPath, ['scripts/build.js']);
  run(root, 'npm', [
    'pack',
    '--workspaces',
    '--include-workspace-root',
    '--ignore-scripts',
    '--pack-destination',
    out,
  ]);
  if (python !== undefined) buildPython(root, python);
  copyFileSync(join(root, 'dist/sbom.cdx.json'), join(out, 'foldatlas.cdx.json'));
  copyFileSync(join(root, 'sandbox/dist/sbom.cdx.json'), join(out, 'foldatlas-sandbox.cdx.json'));
  for (const file of ['server.json', 'CITATION.cff']) copyFileSync(join(root, file), join(out, file));
  cpSync(join(root, 'skills'), join(out, 'skills'), { recursive: true });
}

/** The commands that publish what was made, in their order. */
function publishCommands(root: string, python: string): (readonly [command: string, ...args: string[]])[] {
  const { version, homepage = '', repository } = readManifest(root);
  const source = repository?.url.replace(/^git\+/, '') ?? '';
  const image = (name: string, ...args: string[]): [string, ...string[]] => [
    'docker',
    'build',
    ...args,
    ...Object.entries({
      VERSION: version,
      REVISION: git('rev-parse', 'HEAD'),
      CREATED: git('log', '-1', '--format=%cI'),
      SOURCE: source,
      HOMEPAGE: homepage,
    }).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
    '--tag',
    `${process.env.IMAGE_PREFIX ?? ''}${name}:${version}`,
    '.',
  ];
  const push = (name: string) =>
    ['docker', 'push', `${process.env.IMAGE_PREFIX ?? ''}${name}:${version}`] as const;
  const npm = (name: string) =>
    ['npm', 'publish', join(out, `${name}-${version}.tgz`), '--provenance', '--access', 'public'] as const;
  const wheels = readdirSync(out).filter((file) => /\.whl$|\.tar\.gz$/.test(file));
  return [
    npm('foldatlas-sandbox'),
    npm('foldatlas'),
    [python, '-m', 'twine', 'upload', '--attestations', ...wheels.map((file) => join(out, file))],
    image('foldatlas'),
    image('foldatlas-sandbox', '--target', 'sandbox'),
    push('foldatlas'),
    push('foldatlas-sandbox'),
    ['mcp-publisher', 'publish'],
  ];
}

/** Lists the obstacles to publishing a version; empty if it is ready. */
function findObstacles(root: string, found: ReturnType<typeof findPython>): string[] {
  const manifest = readManifest(root);
  const missing = missingFields(manifest);
  const tag = `v${manifest.version}`;
  return [
    ...(missing.length > 0
      ? [`package.json lacks ${missing.join(', ')}: fill them in, then --prepare.`]
      : []),
    ...(missing.length === 0 && registryName(manifest) === undefined
      ? ['The MCP registry needs a repository at github.com.']
      : []),
    ...(found === undefined ? ['No Python here has setuptools and wheel.'] : []),
    ...(found !== undefined && found.setuptools < 77
      ? [`setuptools ${found.setuptools} cannot write a licence expression (PEP 639); 77 and newer can.`]
      : []),
    ...(git('status', '--porcelain') === '' ? [] : ['The checkout has changes that are not committed.']),
    ...(git('tag', '--points-at', 'HEAD').split('\n').includes(tag) ? [] : [`HEAD has no tag ${tag}.`]),
  ];
}

if (options.prepare) {
  for (const file of prepareRelease(ROOT, TODAY)) say(`wrote ${file}`);
} else {
  const found = findPython();
  const obstacles = findObstacles(ROOT, found);
  const root = copyCheckout();
  const changed = prepareRelease(root, TODAY);
  if (changed.length > 0) obstacles.push(`--prepare changes ${changed.join(', ')}.`);
  for (const obstacle of obstacles) say(`Not ready to publish: ${obstacle}`);
  if (!isDry && obstacles.length > 0) {
    rmSync(root, { recursive: true });
    process.exit(1);
  }
  try {
    make(root, found?.python);
    for (const [command, ...args] of publishCommands(root, found?.python ?? 'python3'))
      if (!isDry || (options.images && args[0] === 'build')) run(root, command, args);
      else say(`would run: ${[command, ...args].join(' ')}`);
  } finally {
    rmSync(root, { recursive: true });
  }
  say(`Everything is in ${out}.`);
}
