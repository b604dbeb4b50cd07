// Compiles the gateway to dist/ and the sandbox to sandbox/dist/: a file for each program and each
// thread, and beside them the files that they share. Types are checked by `npm run types`.
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';

/** The paths of all files below a folder. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

const ROOT = join(import.meta.dirname, '..');

/**
 * Packages that stay in node_modules: tracing agents hook some of these as Node loads them, `graphql`
 * must be there once, and the others have native code or files of their own, or are seldom loaded.
 * All others become part of dist/: reading their 700 files takes half of the CPU time of a start (310
 * of 650 ms, Node 20.20, 2026-11-27).
 */
const EXTERNAL = [
  '@graphql-yoga/render-graphiql',
  '@keyv/redis',
  '@opentelemetry/*',
  '@photostructure/sqlite',
  '@redis/client',
  'dataloader',
  'foldatlas-sandbox',
  'graphql',
  'jose',
  'keyv',
  'openchemlib',
  'pino',
  'prom-client',
  'tinypool',
  'undici',
];

/** CommonJS packages that are bundled ask for modules of Node by this function. */
const REQUIRE = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";

async function compile(root, programs) {
  const source = join(root, 'src');
  const outdir = join(root, 'dist');
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      ...programs.map((name) => join(source, name)),
      ...filesIn(source).filter((file) => file.endsWith('-worker.ts')),
    ],
    outbase: source,
    outdir,
    bundle: true,
    splitting: true,
    external: EXTERNAL,
    conditions: ['module'],
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
    platform: 'node',
    target: 'node20.18',
    format: 'esm',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
  });
  // What an earlier build left.
  const written = new Set(Object.keys(metafile.outputs).map((file) => resolve(ROOT, file)));
  for (const file of filesIn(outdir)) if (!written.has(file)) rmSync(file);
}

await Promise.all([
  compile(ROOT, ['index.ts', 'server.ts', 'cli/main.ts']),
  compile(join(ROOT, 'sandbox'), ['main.ts', 'sandbox.ts', 'sandbox-thread.ts']),
]);

// The types of what the package exports. Each of these files says all of its types itself.
for (const name of ['index', 'config/limits']) {
  const { outputText } = ts.transpileDeclaration(readFileSync(join(ROOT, `src/${name}.ts`), 'utf8'), {
    compilerOptions: { isolatedDeclarations: true, verbatimModuleSyntax: true },
  });
  const file = join(ROOT, `dist/${name}.d.ts`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, outputText.replaceAll(".ts'", ".js'"));
}

// esbuild leaves files alone that do not change; scripts/start.js compares times.
utimesSync(join(ROOT, 'dist/server.js'), new Date(), new Date());
