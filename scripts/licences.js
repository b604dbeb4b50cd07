// The packages that a build contains, with their licences: THIRD_PARTY_LICENSES.txt, as most
// licences ask, and a bill of materials in CycloneDX 1.6 for scanners.
// A package may contain others, already bundled. Comments and source maps name them; where there
// are none, and for licence texts that are not installed, scripts/third-party.json does.
// `npm run third-party` writes it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

const PACKAGE_FOLDER = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/;
/** Paths in comments of bundlers: `// ../node_modules/name/…`, `//#region node_modules/.pnpm/…`. */
const PATH_IN_COMMENT = /\/\/(?:#region)? ((?:\.{1,2}\/)*node_modules\/[^\s"'\\]+)/g;
const MAP_ADDRESS = /\/\/# sourceMappingURL=(\S+)\s*$/;
const LICENCE_FILE = /^(licen[cs]e|copying|copyright|notice|third-?party)[\w-]*(\.(txt|md|markdown))?$/i;

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1);

/** The last package of a path: `…/node_modules/.pnpm/ajv@8.1.0_x/node_modules/ajv/lib/a.js`. */
function packageInPath(path) {
  const name = path.slice(path.lastIndexOf('node_modules/')).match(PACKAGE_FOLDER)?.[1];
  if (name === undefined || !path.includes('node_modules/')) return undefined;
  const stored = path.split('.pnpm/').at(-1)?.split('/')[0] ?? '';
  const prefix = `${name.replace('/', '+')}@`;
  return { name, version: stored.startsWith(prefix) ? stored.slice(prefix.length).split(/[_(]/)[0] : '' };
}

/** The sources that a file's own map names; none without a map. */
function mapSources(file, text) {
  const address = MAP_ADDRESS.exec(text.slice(-1_000_000))?.[1];
  if (address === undefined) return [];
  const data = /^data:application\/json[^,]*;base64,/.exec(address)?.[0];
  if (data !== undefined)
    return JSON.parse(String(Buffer.from(address.slice(data.length), 'base64'))).sources;
  const map = join(dirname(file), address);
  return existsSync(map) ? readJson(map).sources : [];
}

/** The packages that a file of a package was bundled from. */
export function packagesInside(file) {
  const text = readFileSync(file, 'utf8');
  const paths = [
    ...mapSources(file, text),
    ...Array.from(text.matchAll(PATH_IN_COMMENT), ([, path]) => path),
  ];
  return paths.flatMap((path) => packageInPath(path) ?? []);
}

/** The texts of licences and notices beside a file and in the folders above it, up to `folder`. */
export function licenceTexts(folder, files = []) {
  const folders = new Set([folder]);
  for (const file of files)
    for (let above = dirname(file); above.length > folder.length; above = dirname(above)) folders.add(above);
  return [...folders].sort().flatMap((path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
      .map(({ name }) => readFileSync(join(path, name), 'utf8').replaceAll('\r\n', '\n').trim()),
  );
}

/** The files of packages whose code ends in a build, by the package's folder below `root`. */
export function bundledFiles({ outputs }) {
  const folders = new Map();
  for (const { inputs } of Object.values(outputs))
    for (const file of Object.keys(inputs)) {
      const folder = PACKAGE_FOLDER.exec(file)?.[0];
      if (folder !== undefined) folders.set(folder, new Set(folders.get(folder)).add(file));
    }
  return folders;
}

/**
 * The packages in a build, those inside other packages too.
 *
 * @param root - the folder of node_modules
 * @param metafile - what esbuild says of the build
 * @returns name, version, licence and texts; `inside` names the package that contained it
 */
export function bundledPackages(root, metafile) {
  const { bundles, licences } = readJson(join(import.meta.dirname, 'third-party.json'));
  const known = new Map(licences.flatMap((entry) => entry.packages.map((name) => [name, entry])));
  const packages = new Map();
  const missing = [];

  function add({ name, version, licence, texts = [], inside }) {
    const stored = known.get(name);
    if (texts.length === 0 && stored !== undefined) texts = [stored.text];
    if (texts.length === 0) missing.push({ name, version });
    packages.set(`${name} ${version}`, { name, version, licence: licence ?? stored?.licence, texts, inside });
  }

  for (const [folder, files] of bundledFiles(metafile)) {
    const { name, version, license } = readJson(join(root, folder, 'package.json'));
    const paths = Array.from(files, (file) => join(root, file));
    add({ name, version, licence: license, texts: licenceTexts(join(root, folder), paths) });
    const listed = Object.keys(bundles).find((key) => key.replace(/(?<=.)@.*/, '') === name);
    if (listed !== undefined && ![name, `${name}@${version}`].includes(listed))
      throw new Error(`${listed} is now ${version}: "npm run third-party" finds what it contains.`);
    const found = paths.flatMap(packagesInside).filter((one) => one.name !== name);
    const inside = (bundles[listed] ?? []).flatMap((text) => {
      const [, inner, number = ''] = /^(.[^@]*)@?(.*)$/.exec(text);
      return found.some((one) => one.name === inner) ? [] : { name: inner, version: number };
    });
    for (const one of [...inside, ...found])
      if (!packages.has(`${one.name} ${one.version}`)) add({ ...one, inside: `${name} ${version}` });
  }
  if (missing.length > 0) {
    const names = missing.map(({ name, version }) => `${name} ${version}`.trim()).join(', ');
    throw Object.assign(new Error(`No licence text of ${names}: "npm run third-party" asks npm for it.`), {
      missing,
    });
  }
  return [...packages.values()].sort(byName);
}

/**
 * Data in both builds that is no package: scripts/component-atoms.ts makes their tables from it.
 */
const DICTIONARY = `The Chemical Component Dictionary of the wwPDB, 2022-04 (CC0-1.0)

Names, elements and order of atoms come from the Chemical Component Dictionary of the Worldwide Protein
Data Bank (https://www.wwpdb.org/data/ccd). Data files of the PDB archive are available under the CC0 1.0
Universal (CC0 1.0) Public Domain Dedication (https://creativecommons.org/publicdomain/zero/1.0/).
`;

/**
 * Returns the text of THIRD_PARTY_LICENSES.txt. A licence that several packages share stands once.
 */
export function printLicences(packages) {
  const sharing = new Map();
  for (const { name, version, licence, texts } of packages) {
    const text = texts.join('\n\n');
    sharing.set(text, [
      ...(sharing.get(text) ?? []),
      [name, version, `(${licence})`].join(' ').replace('  ', ' '),
    ]);
  }
  const sections = Array.from(sharing, ([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return [...sections, DICTIONARY].join(`\n${'='.repeat(80)}\n\n`);
}

/** The packages that npm installs beside a workspace, as package-lock.json has them. */
function installedPackages(lock, workspace) {
  const found = new Map();
  const walk = (place) => {
    const { dependencies, optionalDependencies } = lock.packages[place];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      let folder = place;
      while (folder !== '' && lock.packages[join(folder, 'node_modules', name)] === undefined)
        folder = folder.replace(/(^|\/)[^/]*$/, '');
      const at = join(folder, 'node_modules', name);
      const entry = lock.packages[at];
      if (entry === undefined || found.has(at)) continue;
      // A workspace is a link to its folder.
      const { version, license } = entry.link ? lock.packages[entry.resolved] : entry;
      found.set(at, { name, version, licence: license });
      walk(entry.link ? entry.resolved : at);
    }
  };
  walk(workspace);
  return [...found.values()];
}

const packageAddress = ({ name, version }) =>
  `pkg:npm/${name.replace('@', '%40')}${version === '' ? '' : `@${version}`}`;

/**
 * The bill of materials of a package: what it contains and what npm installs beside it. It has
 * neither time nor serial number, so that one source makes one file.
 *
 * @param root - the folder of package-lock.json
 * @param workspace - the package's folder below it; empty for the gateway
 */
export function billOfMaterials(root, workspace, bundled) {
  const lock = readJson(join(root, 'package-lock.json'));
  const { name, version, license, description } = readJson(join(root, workspace, 'package.json'));
  const locked = new Map(
    Object.entries(lock.packages).map(([place, entry]) => [
      `${PACKAGE_FOLDER.exec(place.slice(place.lastIndexOf('node_modules/')))?.[1]} ${entry.version}`,
      entry,
    ]),
  );
  const all = new Map();
  for (const one of [...installedPackages(lock, workspace), ...bundled]) all.set(packageAddress(one), one);
  const components = [...all].map(([address, one]) => {
    const { integrity = '' } = locked.get(`${one.name} ${one.version}`) ?? {};
    const [algorithm, digest] = integrity.split('-');
    return {
      type: 'library',
      'bom-ref': address,
      name: one.name,
      ...(one.version === '' ? {} : { version: one.version }),
      purl: address,
      licenses: [{ expression: one.licence }],
      ...(algorithm === 'sha512' && one.inside === undefined
        ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
        : {}),
    };
  });
  const own = packageAddress({ name, version });
  const inside = new Map();
  for (const [address, one] of all) {
    const parent = [...all].find(([, { name: n, version: v }]) => `${n} ${v}` === one.inside)?.[0] ?? own;
    inside.set(parent, [...(inside.get(parent) ?? []), address]);
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        description,
        purl: own,
        licenses: [{ expression: license }],
      },
    },
    components: components.sort(byName),
    dependencies: Array.from(inside, ([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}
