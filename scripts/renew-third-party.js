import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { bundledFiles, licenceTexts } from './licences.js';

const FILE = join(import.meta.dirname, 'third-party.json');
const RENDERER = '@graphql-yoga/render-graphiql';
const SOURCE = '@graphql-yoga/graphiql';

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });

/** Installs packages in a folder of their own, and reads something there. */
async function inFolderWith(specifiers, options, read) {
  const folder = mkdtempSync(join(tmpdir(), 'third-party-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', ...options];
    npm('install', '--prefix', folder, ...flags, ...specifiers);
    return await read(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The versions of each package that one workspace depends on, by a lock file of pnpm. */
function lockedVersions(lock, workspace) {
  const { importers, snapshots } = parse(readFileSync(lock, 'utf8'));
  const seen = new Set();
  const walk = (id) => {
    if (seen.has(id)) return;
    seen.add(id);
    const { dependencies, optionalDependencies } = snapshots[id] ?? {};
    for (const [name, found] of Object.entries({ ...dependencies, ...optionalDependencies }))
      walk(found in snapshots ? found : `${name}@${found}`);
  };
  for (const [name, { version: found }] of Object.entries(importers[workspace].dependencies))
    walk(`${name}@${found}`);
  const versions = new Map();
  for (const id of new Set(Array.from(seen, (text) => text.replace(/\(.*/, '')))) {
    const name = id.slice(0, id.lastIndexOf('@'));
    versions.set(name, [...(versions.get(name) ?? []), id]);
  }
  return versions;
}

/**
 * The packages inside GraphiQL's bundle, which says nothing of most: what its source imports,
 * bundled again, as npm had it on the day when the bundle was published.
 */
async function packagesOfGraphiql(version, lock) {
  if (lock === undefined)
    throw new Error(`Give pnpm-lock.yaml of github.com/graphql-hive/graphql-yoga at ${RENDERER}@${version}.`);
  const versions = lockedVersions(lock, 'packages/graphiql');
  const published = JSON.parse(npm('view', RENDERER, 'time', '--json'))[version];
  return inFolderWith([SOURCE], ['--before', published], async (folder) => {
    const source = join(folder, 'node_modules', SOURCE);
    const imports = [
      ...Object.keys(readJson(join(source, 'package.json')).dependencies),
      'monaco-editor',
      'monaco-graphql/esm/graphql.worker.js',
    ];
    const { metafile } = await build({
      absWorkingDir: folder,
      stdin: {
        contents: imports.map((name) => `export * from '${name}';`).join('\n'),
        resolveDir: source,
      },
      bundle: true,
      write: false,
      outdir: 'dist',
      metafile: true,
      platform: 'browser',
      loader: { '.ttf': 'empty' },
      logLevel: 'error',
    });
    const names = Array.from(
      bundledFiles(metafile).keys(),
      (path) => readJson(join(folder, path, 'package.json')).name,
    );
    return [...new Set(names.flatMap((name) => versions.get(name) ?? []))].sort();
  });
}

const stored = readJson(FILE);
const save = () => writeFileSync(FILE, `${JSON.stringify(stored, null, 2)}\n`);

const { version } = readJson(join(import.meta.dirname, `../node_modules/${RENDERER}/package.json`));
const key = `${RENDERER}@${version}`;
if (stored.bundles[key] === undefined) {
  for (const old of Object.keys(stored.bundles))
    if (old.startsWith(`${RENDERER}@`)) delete stored.bundles[old];
  stored.bundles[key] = await packagesOfGraphiql(version, process.argv[2]);
  save();
}

/** The packages whose licence the build asks for; none when it succeeds. */
const findMissing = (round) =>
  import(`./build.js?${round}`).then(
    () => [],
    (error) => {
      if (error.missing === undefined) throw error;
      return error.missing;
    },
  );

/** Adds the licences of packages that npm has. */
const addLicences = (missing) =>
  inFolderWith(
    missing.map(({ name, version: number }) => (number === '' ? name : `${name}@${number}`)),
    [],
    (folder) => {
      const without = [];
      for (const { name } of missing) {
        const place = join(folder, 'node_modules', name);
        const text = licenceTexts(place).join('\n\n');
        const { license } = readJson(join(place, 'package.json'));
        const same = stored.licences.find((entry) => entry.text === text && entry.licence === license);
        if (text === '') without.push(name);
        else if (same === undefined) stored.licences.push({ packages: [name], licence: license, text });
        else same.packages = [...same.packages, name].sort();
      }
      save();
      if (without.length > 0)
        throw new Error(`npm has no licence text of ${without.join(', ')}: add each from its repository.`);
    },
  );

for (let round = 0; ; round += 1) {
  const missing = await findMissing(round);
  if (missing.length === 0) break;
  await addLicences([...new Map(missing.map((one) => [one.name, one])).values()]);
}
