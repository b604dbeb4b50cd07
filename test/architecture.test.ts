// Imports go one way: server -> run -> gateway -> routes, resolvers -> schema -> context -> upstream | store. The sandbox knows nobody
// and nobody but the server knows it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Which other places each place under src/ may import, types aside. A file directly under src/ is a place of its own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  async: [],
  sandbox: [],
  structure: [],
  store: ['async'],
  'redact.ts': [],
  'version.ts': [],
  'growing-list.ts': [],
  'late-text.ts': [],
  'collect-window.ts': [],
  'entity-tag.ts': [],
  folding: ['structure'],
  upstream: [
    'collect-window.ts',
    'async',
    'store',
    'structure',
    'redact.ts',
    'version.ts',
    'entity-tag.ts',
    'late-text.ts',
  ],
  live: ['upstream', 'store'],
  'table.ts': [],
  bulk: ['upstream', 'store', 'live', 'table.ts'],
  'cost-plugin.ts': ['execution'],
  'public-fields-plugin.ts': [],
  'builder.ts': ['cost-plugin.ts', 'public-fields-plugin.ts'],
  'loopback.ts': [],
  'secret-digest.ts': [],
  callers: ['loopback.ts', 'secret-digest.ts'],
  load: ['async', 'callers', 'store'],
  'config.ts': ['upstream', 'callers', 'protocol', 'loopback.ts'],
  'log.ts': ['redact.ts'],
  operations: ['async', 'redact.ts', 'loopback.ts', 'secret-digest.ts', 'version.ts'],
  'examples.ts': [],
  'assets.ts': [],
  'guides.ts': [],
  pages: ['examples.ts', 'assets.ts'],
  'context.ts': [],
  doctor: ['upstream'],
  'sandbox-options.ts': [],
  cli: [
    'sandbox-options.ts',
    'version.ts',
    'config.ts',
    'doctor',
    'upstream',
    'sandbox',
    'gateway.ts',
    'log.ts',
    'server.ts',
    'examples.ts',
    'table.ts',
    'store',
    'process',
  ],
  schema: ['builder.ts', 'folding', 'structure', 'late-text.ts'],
  protocol: ['late-text.ts'],
  plugins: [
    'http',
    'execution',
    'upstream',
    'callers',
    'load',
    'protocol',
    'redact.ts',
    'entity-tag.ts',
    'operations',
  ],
  http: ['public-fields-plugin.ts', 'entity-tag.ts', 'callers', 'load', 'operations', 'plugins', 'protocol'],
  execution: ['collect-window.ts', 'growing-list.ts', 'late-text.ts'],
  routes: [
    'async',
    'callers',
    'entity-tag.ts',
    'late-text.ts',
    'pages',
    'guides.ts',
    'examples.ts',
    'protocol',
    'upstream',
    'plugins',
    'operations',
    'structure',
    'schema',
    'folding',
    'bulk',
    'resolvers',
  ],
  resolvers: [
    'builder.ts',
    'execution',
    'growing-list.ts',
    'schema',
    'upstream',
    'structure',
    'folding',
    'store',
    'live',
    'bulk',
    'doctor',
    'protocol',
  ],
  federation: ['secret-digest.ts', 'builder.ts', 'schema', 'resolvers', 'upstream'],
  'schema.ts': ['builder.ts', 'schema', 'resolvers', 'federation'],
  websocket: ['operations'],
  'websocket.ts': ['schema.ts', 'plugins', 'callers', 'load', 'protocol', 'websocket'],
  gateway: [
    'collect-window.ts',
    'async',
    'http',
    'doctor',
    'load',
    'federation',
    'live',
    'bulk',
    'operations',
    'plugins',
    'protocol',
    'routes',
    'store',
    'upstream',
    'callers',
    'assets.ts',
  ],
  'gateway.ts': ['http', 'gateway', 'schema.ts', 'operations', 'plugins', 'protocol', 'examples.ts'],
  process: ['async', 'config.ts', 'callers', 'load', 'gateway.ts', 'operations', 'store', 'websocket.ts'],
  'server.ts': ['run.ts'],
  'run.ts': ['config.ts', 'log.ts', 'process', 'sandbox', 'sandbox-options.ts', 'store'],
};

const placeOf = (file: string): string => relative(SRC, file).split('/')[0] ?? '';

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join(SRC, file));

/** Files that a file imports, type-only imports left out: those vanish when it is compiled. */
const importsOf = (file: string): string[] =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)(?! type)[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm,
    ),
  ].map((m) => join(dirname(file), m[1] ?? m[2] ?? ''));

describe('the direction of imports', () => {
  it('has a rule for every place', () => {
    expect([...new Set(files.map(placeOf))].filter((place) => !Object.hasOwn(MAY_IMPORT, place))).toEqual([]);
  });

  it('is kept by every file', () => {
    const wrong = files.flatMap((file) => {
      const place = placeOf(file);
      return importsOf(file)
        .map(placeOf)
        .filter((target) => target !== place && !(MAY_IMPORT[place] ?? []).includes(target))
        .map((target) => `${relative(SRC, file)} -> ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('reads process.env in one file of the gateway', () => {
    const readers = files.filter(
      (file) => placeOf(file) !== 'sandbox' && readFileSync(file, 'utf8').includes('process.env'),
    );
    expect(
      readers
        .map((file) => relative(SRC, file))
        .filter((file) => file !== 'config.ts')
        .sort(),
    ).toEqual(['cli/session.ts', 'run.ts']);
  });

  it('opens each file with a sentence on what it is for', () => {
    const silent = files.filter((file) => !/^(#!.*\n)?\/[/*]/.test(readFileSync(file, 'utf8')));
    expect(silent.map((file) => relative(SRC, file))).toEqual([]);
  });
});
