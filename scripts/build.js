// Compiles the gateway to dist/ and the sandbox to sandbox/dist/: a file for each program and each
// thread, and below chunks/ what they share. Types are checked by `npm run types`. Packages are
// bundled, so that a start takes half the CPU time (0.5 instead of 1.0 s, Node 20, 2026-11-27) and
// an installation needs few packages. Only what is in `dependencies` of package.json stays outside:
// packages that find files of their own, the Redis client, which few need, and graphql. Of that a
// process must have one copy, and as CommonJS V8 inlines its checks of types: a checkFold of 100
// takes 14 % less CPU time.
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { billOfMaterials, bundledPackages, printLicences } from './licences.js';

/** The paths of all files below a folder. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

const ROOT = join(import.meta.dirname, '..');

/**
 * Refuses `import()` of a bundled CommonJS package: as a chunk it has no export but `default`
 * (evanw/esbuild#3245), which the source run by Node does not show. An `import()` of an own file
 * with a static import in it works.
 */
function checkLateImports({ inputs }) {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { path, kind } of imports)
      if (kind === 'dynamic-import' && inputs[path]?.format === 'cjs')
        throw new Error(
          `${file}: import() of ${path}, which is CommonJS; import it statically in a file of its own`,
        );
}

/** CommonJS packages that are bundled ask for modules of Node by this function. */
const REQUIRE = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/** The types that a file exports. It says all of them itself. */
const declareTypes = (file) =>
  ts
    .transpileDeclaration(readFileSync(file, 'utf8'), {
      compilerOptions: { isolatedDeclarations: true, verbatimModuleSyntax: true },
    })
    .outputText.replaceAll(".ts'", ".js'");

/**
 * Compiles `src` of a package to its `dist`.
 *
 * @param programs - the files to start from, besides those of threads
 * @param typed - names of the files whose types the package hands out
 */
async function compile(root, programs, typed = []) {
  const source = join(root, 'src');
  const outdir = join(root, 'dist');
  const { dependencies, peerDependencies = {} } = readJson(join(root, 'package.json'));
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      ...programs.map((name) => join(source, name)),
      ...filesIn(source).filter((file) => file.endsWith('-worker.ts')),
    ],
    outbase: source,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    platform: 'node',
    target: 'node20.18',
    format: 'esm',
    // Modules can be left out by what is used of them; CommonJS cannot.
    conditions: ['module'],
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  checkLateImports(metafile);
  const packages = bundledPackages(ROOT, metafile);
  const texts = {
    'THIRD_PARTY_LICENSES.txt': printLicences(packages),
    'sbom.cdx.json': JSON.stringify(billOfMaterials(ROOT, relative(ROOT, root), packages)),
    ...Object.fromEntries(typed.map((name) => [`${name}.d.ts`, declareTypes(join(source, `${name}.ts`))])),
  };
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(outdir, name)), { recursive: true });
    writeFileSync(join(outdir, name), text);
  }
  // Removes the files of an earlier build. Another build may run at the same time: what both write
  // never goes.
  const written = new Set([
    ...Object.keys(metafile.outputs).map((file) => resolve(ROOT, file)),
    ...Object.keys(texts).map((name) => join(outdir, name)),
  ]);
  for (const file of filesIn(outdir)) if (!written.has(file)) rmSync(file, { force: true });
}

await Promise.all([
  compile(ROOT, ['index.ts', 'server.ts', 'cli/main.ts'], ['index', 'config/limits']),
  compile(join(ROOT, 'sandbox'), ['main.ts', 'sandbox.ts', 'sandbox-thread.ts']),
]);

// esbuild leaves files alone that do not change; scripts/start.js compares times.
utimesSync(join(ROOT, 'dist/server.js'), new Date(), new Date());
