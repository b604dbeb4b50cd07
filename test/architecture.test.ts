// Imports go down, never up. A room is a folder or a file directly under src/; each stands on a
// floor and imports only from floors below its own. The sandbox is a package of its own: neither
// imports files of the other, and one file of the gateway starts it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const SANDBOX = fileURLToPath(new URL('../sandbox/src', import.meta.url));

/** Rooms by floor, the top one first. */
const FLOORS: readonly (readonly string[])[] = [
  ['server', 'cli', 'index'],
  ['process'],
  ['gateway'],
  ['http'],
  ['resolvers'],
  ['schema'],
  ['context'],
  ['progress', 'lookups', 'doctor'],
  ['upstream'],
  ['store', 'telemetry', 'submission'],
  ['structure', 'async', 'config', 'etag', 'package', 'plain-text'],
];
const MAX_FLOORS = 11;
const MAX_ROOMS = 22;

const floorNumbers = new Map(
  FLOORS.flatMap((rooms, i) => rooms.map((room) => [room, FLOORS.length - i] as const)),
);
const findRoom = (file: string): string => (file.split('/')[0] ?? '').replace(/\.ts$/, '');

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const files = filesIn(SRC);
const readSource = (file: string): string => readFileSync(join(SRC, file), 'utf8');

/** Files that a file imports, types included. */
const listImports = (file: string, folder = SRC): string[] =>
  [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /^(?:import|export)[^;]*? from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm,
    ),
  ].map(([, from, bare, dynamic]) =>
    relative(folder, join(folder, dirname(file), from ?? bare ?? dynamic ?? '')),
  );

describe('the direction of imports', () => {
  it('has a floor for every room, and few of both', () => {
    const rooms = [...new Set(files.map(findRoom))];
    expect(rooms.filter((room) => !floorNumbers.has(room))).toEqual([]);
    expect([...floorNumbers.keys()].filter((room) => !rooms.includes(room))).toEqual([]);
    expect(rooms.length).toBeLessThanOrEqual(MAX_ROOMS);
    expect(FLOORS.length).toBeLessThanOrEqual(MAX_FLOORS);
  });

  it('is down, for every file, also of types', () => {
    const isAllowed = (from: string, to: string): boolean =>
      from === to || (floorNumbers.get(to) ?? Number.POSITIVE_INFINITY) < (floorNumbers.get(from) ?? 0);
    const wrong = files.flatMap((file) =>
      listImports(file)
        .filter((target) => !isAllowed(findRoom(file), findRoom(target)))
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('is down among the rooms of folds, too', () => {
    const order = ['refusal', 'tasks', 'results', 'scores', 'batches', 'submit', 'cancel'];
    const place = (file: string): number => order.indexOf(findRoom(relative('resolvers/folds', file)));
    const folds = files.filter((file) => file.startsWith('resolvers/folds/'));
    expect(folds.filter((file) => place(file) < 0)).toEqual([]);
    const wrong = folds.flatMap((file) =>
      listImports(file).flatMap((target) => (place(target) > place(file) ? [`${file} -> ${target}`] : [])),
    );
    expect(wrong).toEqual([]);
  });

  it('stays within the package, for the sandbox and the gateway', () => {
    const leaving = (folder: string) =>
      filesIn(folder).flatMap((file) =>
        listImports(file, folder).filter((target) => target.startsWith('..')),
      );
    expect(leaving(SANDBOX)).toEqual([]);
    expect(leaving(SRC)).toEqual([]);
    expect(files.filter((file) => readSource(file).includes("from 'foldatlas-sandbox/"))).toEqual([
      'process/embedded-sandbox.ts',
    ]);
  });

  it.each([SRC, SANDBOX])('has no circles of files in %s', (folder) => {
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const target of listImports(file, folder)) visit(target, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of filesIn(folder)) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('reads process.env in one file of the gateway', () => {
    const readers = files.filter((file) => readSource(file).includes('process.env'));
    expect(readers.filter((file) => file !== 'config.ts').sort()).toEqual([
      'cli/session.ts',
      'process/run.ts',
    ]);
  });

  it('opens each file with a sentence on what it is for', () => {
    for (const folder of [SRC, SANDBOX])
      expect(
        filesIn(folder).filter((file) => !/^(#!.*\n)?\/[/*]/.test(readFileSync(join(folder, file), 'utf8'))),
      ).toEqual([]);
  });
});

describe('comments', () => {
  const ROOT = fileURLToPath(new URL('..', import.meta.url));
  const FOLDERS = [
    'src',
    'sandbox/src',
    'sandbox/test',
    'test',
    'bench/src',
    'scripts',
    'examples',
    'public',
  ];
  const MAX_COLUMNS = 100;
  const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*) (.*)/;
  /** Openings without a subject, and words for persons where code acts. */
  const OPENING = /^(?:What|Who|Whose|Of|Those|Behind|Whatever)\b/;
  const PERSON = /\b(?:whoever|nobody|somebody)\b/i;
  const listed = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.[jt]sx?$/.test(file) && !/(^|\/)(node_modules|dist|generated)\//.test(file))
      .map((file) => `${folder}/${file}`),
  );

  it('say who acts, in lines of at most 100 columns', () => {
    const wrong = listed.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, i) => {
          const said = COMMENT.exec(line)?.[1];
          if (said === undefined || said.includes('biome-ignore')) return [];
          const isUnclear = OPENING.test(said) || PERSON.test(said);
          return isUnclear || line.length > MAX_COLUMNS ? [`${file}:${i + 1}: ${said}`] : [];
        }),
    );
    expect(wrong).toEqual([]);
  });
});
