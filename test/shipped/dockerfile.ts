// Carries out a Dockerfile without a container: each stage is a folder, COPY copies into it, and
// RUN runs there by the Node that the image has. Knows the instructions that ours has, and refuses
// others.
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';
import { withNode } from './nodes.ts';

const run = promisify(execFile);

/** The state of a stage. */
export interface Stage {
  /** The folder that stands for `/`. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: number | undefined;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

interface Instruction {
  readonly name: string;
  readonly text: string;
}

function readInstructions(file: string): Instruction[] {
  const lines = readFileSync(file, 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name, text] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? [];
    return name === undefined || text === undefined ? [] : [{ name, text }];
  });
}

/** Lays out what .dockerignore lets through: it refuses all, and then names what is needed. */
function layOutContext(folder: string): void {
  const [first, ...others] = readFileSync(`${ROOT}.dockerignore`, 'utf8').trim().split('\n');
  if (first !== '*' || others.some((line) => !line.startsWith('!')))
    throw new Error('.dockerignore is read otherwise');
  for (const line of others) copyMatching(ROOT, line.slice(1), folder, (path) => join(folder, path));
}

/** Copies a path, or the files of a folder that match `*.ending`. */
function copyMatching(from: string, pattern: string, to: string, target: (path: string) => string): void {
  const [, parent, ending] = /^(.+)\/\*(\.\w+)$/.exec(pattern) ?? [];
  const paths =
    parent === undefined || ending === undefined
      ? [pattern]
      : readdirSync(join(from, parent))
          .filter((name) => name.endsWith(ending))
          .map((name) => `${parent}/${name}`);
  if (paths.length === 0) throw new Error(`nothing matches ${pattern}`);
  for (const path of paths) {
    const place = target(path);
    mkdirSync(dirname(place), { recursive: true });
    // The packages in node_modules of this checkout are no part of any source.
    cpSync(join(from, path), place, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => from !== ROOT || !file.slice(ROOT.length).includes('node_modules'),
    });
  }
  mkdirSync(to, { recursive: true });
}

const readList = (text: string): string[] => {
  const words: unknown = JSON.parse(text);
  if (!Array.isArray(words)) throw new Error(`no list of words: ${text}`);
  return words.map(String);
};

/** The number of the user `node` in the images of Node. */
const NODE_USER = 1000;

/**
 * Builds all stages.
 *
 * @param node - the folder with the `node` of the image
 * @returns the stages in their order
 */
export async function buildStages(folder: string, node: string): Promise<Stage[]> {
  const context = join(folder, 'context');
  layOutContext(context);
  // The images have a user `node`; machines of tests need not have one.
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  writeFileSync(
    join(tools, 'chown'),
    `#!/bin/sh\n[ "$(id -u)" != 0 ] || exec /bin/chown "$(echo "$1" | sed s/node/${NODE_USER}/g)" "$2"\n`,
  );
  chmodSync(join(tools, 'chown'), 0o755);

  const stages: { name: string | undefined; stage: Stage }[] = [];
  const find = (name: string) => stages.find((one) => one.name === name)?.stage;
  const change = (changes: Partial<Stage>) => {
    const last = stages.at(-1);
    if (last === undefined) throw new Error('an instruction stands before FROM');
    last.stage = { ...last.stage, ...changes };
  };
  for (const { name, text } of readInstructions(`${ROOT}Dockerfile`)) {
    const stage = stages.at(-1)?.stage;
    if (name === 'FROM') {
      const [, image = '', alias] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? [];
      const base = find(image);
      const root = join(folder, `stage-${stages.length}`);
      const empty: Stage = { root, workdir: '/', env: {}, user: undefined, command: [], healthCheck: [] };
      if (base === undefined) mkdirSync(root);
      else cpSync(base.root, root, { recursive: true, verbatimSymlinks: true });
      stages.push({ name: alias, stage: { ...empty, ...base, root } });
      continue;
    }
    if (name === 'ARG') continue;
    if (stage === undefined) throw new Error(`${name} stands before FROM`);
    const inStage = (path: string) =>
      path.startsWith('/') ? join(stage.root, path) : join(stage.root, stage.workdir, path);
    if (name === 'WORKDIR') {
      mkdirSync(inStage(text), { recursive: true });
      change({ workdir: text });
    } else if (name === 'ENV') {
      const pairs = text.split(/\s+/).map((pair): [string, string] => {
        const [key = '', value = ''] = pair.split(/=(.*)/s);
        return [key, value];
      });
      change({ env: { ...stage.env, ...Object.fromEntries(pairs) } });
    } else if (name === 'COPY') {
      const [, flag, rest = text] = /^--from=(\S+) (.+)$/.exec(text) ?? [];
      const words = rest.split(/\s+/);
      const target = words.pop() ?? '';
      const from = flag === undefined ? context : (find(flag)?.root ?? '');
      const isFolder = target.endsWith('/') || words.length > 1;
      for (const source of words)
        copyMatching(from, source, inStage(isFolder ? target : dirname(target)), (path) =>
          isFolder || path !== source ? inStage(join(target, basename(path))) : inStage(target),
        );
    } else if (name === 'RUN') {
      const command = text.replaceAll(/(?<=\s)\/(?=\w)/g, `${stage.root}/`);
      await run('sh', ['-ec', command], {
        cwd: inStage('.'),
        env: withNode(`${tools}:${stage.user === undefined ? node : addNode(stage, node)}`, stage.env),
        maxBuffer: 2 ** 26,
        ...(process.getuid?.() === 0 && stage.user !== undefined ? { uid: stage.user, gid: stage.user } : {}),
      });
    } else if (name === 'USER') change({ user: Number.parseInt(text, 10) });
    else if (name === 'CMD') change({ command: readList(text) });
    else if (name === 'HEALTHCHECK') change({ healthCheck: readList(text.slice(text.indexOf('['))) });
    else if (!['EXPOSE', 'VOLUME', 'LABEL'].includes(name)) throw new Error(`the Dockerfile has a ${name}`);
  }
  return stages.map(({ stage }) => stage);
}

/** Puts the Node of the image into a stage, where every user may run it, and says the PATH. */
export function addNode({ root }: Stage, node: string): string {
  const bin = join(root, 'usr/local/bin');
  if (!existsSync(bin)) {
    mkdirSync(bin, { recursive: true });
    cpSync(join(node, 'node'), join(bin, 'node'));
  }
  return bin;
}
