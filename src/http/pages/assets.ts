// Files for browsers, from public/ and from the GraphiQL package, under URLs with a content hash,
// so that caches may store them forever.
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import manifest from '@graphql-yoga/render-graphiql/package.json' with { type: 'json' };
import { readShippedFiles } from '../../package.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Asset {
  readonly type: string;
  /** Changes with the content; part of the address. */
  readonly version: string;
  load(): Promise<Buffer>;
}

export interface Assets {
  /**
   * The URL of a file by its name, such as `assets/pages.1f0c9b2a.css`, relative to the gateway's
   * root.
   */
  url(name: string): string;
  /** The file of an address's last part, and whether the address carries its present version. */
  find(file: string): (Asset & { readonly name: string; readonly isCurrent: boolean }) | null;
}

/**
 * Files of the GraphiQL package by their public name. They are 9 MB, so they are read on first use.
 */
const GRAPHIQL = {
  'graphiql-app.js': 'js',
  'graphiql-app.css': 'css',
  'graphiql-editor-worker.js': 'editorWorkerService',
  'graphiql-json-worker.js': 'jsonWorker',
  'graphiql-language-worker.js': 'graphqlWorker',
} as const;

const contentType = (name: string): string => TYPES[extname(name)] ?? 'application/octet-stream';

const ownFiles = (): [string, Asset][] =>
  readShippedFiles('public/', /\.(css|js|svg)$/).map(([name, bytes]) => {
    const version = createHash('sha256').update(bytes).digest('hex').slice(0, 10);
    return [name, { type: contentType(name), version, load: async () => bytes }];
  });

function graphiqlFiles(): [string, Asset][] {
  const version = manifest.version.replaceAll('.', '-');
  return Object.entries(GRAPHIQL).map(([name, part]) => [
    name,
    {
      type: contentType(name),
      version,
      load: async () => Buffer.from((await import('@graphql-yoga/render-graphiql/graphiql'))[part]),
    },
  ]);
}

/** Own files are small and read at once. */
export function createAssets(): Assets {
  const assets = new Map([...ownFiles(), ...graphiqlFiles()]);
  return {
    url(name) {
      const asset = assets.get(name);
      if (asset === undefined) throw new Error(`public/ holds no ${name}`);
      return `assets/${name.replace(/(\.\w+)$/, `.${asset.version}$1`)}`;
    },
    find(file) {
      const [, stem = '', version = '', ending = ''] = /^([\w-]+)\.([\w-]+)(\.\w+)$/.exec(file) ?? [];
      const asset = assets.get(stem + ending);
      return asset === undefined
        ? null
        : { ...asset, name: stem + ending, isCurrent: asset.version === version };
    },
  };
}
