// The contestants that are measured, and how each is started. A contestant is a process of its own;
// all that are pinned share one core, one at a time.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, startChild, toFileName } from './child.ts';

/** The compiled files of the bench, and the root of the project. */
const HERE = fileURLToPath(new URL('..', import.meta.url));
export const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));

interface Contestant {
  readonly title: string;
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout of FoldAtlas; absent for a peer. */
  readonly root?: string;
}

const peer = (title: string, file: string, env: Record<string, string> = {}): Contestant => ({
  title,
  file: join(HERE, 'peers', `${file}.js`),
  env,
});

const foldAtlas = (title: string, root: string): Contestant => ({
  title,
  root,
  file: join(root, 'dist/server.js'),
});

/** All of them by the name that their process has. */
export const CONTESTANTS = {
  bare: peer('bare node:http, prepared bytes', 'bare'),
  rest: peer('REST client by hand', 'rest-client'),
  foldatlas: foldAtlas('FoldAtlas', ROOT),
  apollo: peer('Apollo Server', 'apollo'),
  mercurius: peer('Mercurius with JIT', 'mercurius'),
  'mercurius-bulk': peer('Mercurius with JIT and bulk', 'mercurius', { WAY: 'bulk' }),
  'mercurius-cache': peer('Mercurius with JIT, cache and bulk', 'mercurius', { CACHED: '1', WAY: 'bulk' }),
  yoga: peer('bare Yoga with Pothos', 'yoga', { POTHOS: '1' }),
  'yoga-bulk': peer('Yoga with Pothos and bulk', 'yoga', { POTHOS: '1', WAY: 'bulk' }),
  'yoga-jit-bulk': peer('Yoga with JIT and bulk', 'yoga', { JIT: '1', WAY: 'bulk' }),
  'yoga-cache': peer('Yoga with response cache and bulk', 'yoga', { CACHED: '1', WAY: 'bulk' }),
  'yoga-folds': peer('bare Yoga, the same schema', 'yoga-folds', { SCHEMA: join(ROOT, 'schema.graphql') }),
} as const satisfies Record<string, Contestant>;
const CHECKOUT = 'FoldAtlas of ';
/** One of {@link CONTESTANTS}, or a built checkout of FoldAtlas by its folder. */
export type ContestantName = keyof typeof CONTESTANTS | `${typeof CHECKOUT}${string}`;

const isCheckout = (name: ContestantName): name is `${typeof CHECKOUT}${string}` => name.startsWith(CHECKOUT);
export const checkoutName = (folder: string): ContestantName => `${CHECKOUT}${resolve(folder)}`;

const findContestant = (name: ContestantName): Contestant =>
  isCheckout(name) ? foldAtlas(name, name.slice(CHECKOUT.length)) : CONTESTANTS[name];

/** The flags and the environment that `npm start` of a checkout gives to node. */
function toStart(root: string): { flags: readonly string[]; env: Record<string, string> } {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, flags = ''] = /node (.*?)dist\/server\.js/.exec(scripts.start) ?? [];
  const settings = [...scripts.start.matchAll(/\b([A-Z_]+)=(\S+) /g)];
  return {
    flags: flags.split(' ').filter((flag) => flag.startsWith('--')),
    env: Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value])),
  };
}

export const toTitle = (name: string): string => CONTESTANTS[name as keyof typeof CONTESTANTS]?.title ?? name;

/**
 * FoldAtlas as an operator runs it: every limit, the request log and the metrics on. Only the
 * limits of requests a minute, of the cost of a query and of streams are raised.
 */
const foldAtlasSettings = (folder: string, upstream: string | undefined): Record<string, string> => ({
  ...(upstream === undefined ? {} : { UPSTREAM_URL: upstream }),
  PORT: '0',
  STORE_URL: `sqlite:${join(folder, 'gateway.db')}`,
  SANDBOX_DATA: join(folder, 'sandbox'),
  RATE_LIMIT_PER_MINUTE: '10000000',
  MAX_QUERY_COST: '1000000',
  MAX_SUBSCRIPTIONS: '10000',
});

/** The line that FoldAtlas writes when it listens. */
const FOLDATLAS_LISTENS = /(http:\S+)\/graphql\n/;

export interface StartOptions {
  readonly folder: string;
  /** Absent: FoldAtlas starts its sandbox. */
  readonly upstream: string | undefined;
  readonly core: number | undefined;
}

/** The priority of who lets others go first. */
const BEHIND = 10;

/**
 * Has a process run only while no other process wants its core, where the system can do that. By
 * priority alone who measures may wait for the end of its slice.
 */
function letOthersFirst(pid: number): void {
  setPriority(pid, BEHIND);
  spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)]);
}

/** Starts a contestant. @param label - of its log, where one is started more than once */
export function startContestant(
  name: ContestantName,
  { folder, upstream, core }: StartOptions,
  label: string = name,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const { file, root, env: own = {} } = findContestant(name);
  const start = root === undefined ? undefined : toStart(root);
  return startChild({
    name: label,
    file,
    folder,
    core,
    cwd: folder,
    ...(start === undefined
      ? { env: { UPSTREAM_URL: upstream ?? '', ...own } }
      : {
          flags: start.flags,
          env: { ...start.env, ...foldAtlasSettings(join(folder, toFileName(label)), upstream), ...env },
          announces: FOLDATLAS_LISTENS,
        }),
  });
}

/** Starts the stand-in service. @param templates - the file of its templates */
export async function startStub(folder: string, core: number | undefined, templates: string): Promise<Child> {
  const stub = await startChild({
    name: 'stub',
    file: join(HERE, 'stub/main.js'),
    folder,
    core,
    env: { TEMPLATES: templates },
  });
  // The load generator goes first on the core that they share: the time of an answer must not be
  // that of a stand-in with more to send.
  letOthersFirst(stub.pid);
  return stub;
}
