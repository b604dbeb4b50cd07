// Tells which operation a request is for: the one table of the sandbox's routes, for the index
// page, 405 answers, faults and observers.
import type { WireSettings } from './wire/settings.ts';

export interface Route {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Its variable parts in braces. */
  readonly path: string;
}

export interface Routes {
  readonly all: readonly Route[];
  /** Routes of a path, whatever their method; the first one of a method wins. */
  at(path: string): Route[];
  /** The operation that a request is for; undefined when there is none. HEAD counts as GET. */
  findOperation(method: string, path: string): string | undefined;
}

const batchOperations = ['submit', 'list', 'status', 'cancel'];

const atlasRoutes: readonly Route[] = [
  { operation: 'features', method: 'GET', path: '/features' },
  { operation: 'feature', method: 'GET', path: '/features/{feature_index}' },
  { operation: 'cluster', method: 'GET', path: '/clusters/{protein_hash}' },
  { operation: 'bulk', method: 'POST', path: '/proteins/batch' },
  { operation: 'bulkJob', method: 'GET', path: '/proteins/batch/jobs/{job_id}' },
  { operation: 'bulkJobDelete', method: 'DELETE', path: '/proteins/batch/jobs/{job_id}' },
  { operation: 'protein', method: 'GET', path: '/proteins/{protein_hash}' },
  { operation: 'thumbnail', method: 'GET', path: '/proteins/{protein_hash}/thumbnail/{thumbnail_type}' },
  { operation: 'uniprot', method: 'GET', path: '/uniprot/{uniprot_id}' },
  { operation: 'similarity', method: 'GET', path: '/similarity-search' },
];

const downloads: readonly Route[] = [
  { operation: 'download', method: 'GET', path: '/downloads/results/{task_id}.json' },
  { operation: 'download', method: 'GET', path: '/downloads/artifacts/{task_id}/{name}.json' },
  { operation: 'download', method: 'GET', path: '/downloads/bulk/{job_id}.zip' },
];

const literal = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');

/** The routes under the prefixes. */
export function createRoutes({
  batchPrefix,
  atlasPrefix,
}: Pick<WireSettings, 'batchPrefix' | 'atlasPrefix'>): Routes {
  const all: readonly Route[] = [
    ...batchOperations.map((operation): Route => {
      return { operation, method: 'POST', path: `${batchPrefix}/${operation}` };
    }),
    ...atlasRoutes.map((route): Route => ({ ...route, path: atlasPrefix + route.path })),
    ...downloads,
  ];
  const patterns = all.map((route) => ({
    route,
    pattern: new RegExp(`^${literal(route.path).replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const at = (path: string): Route[] =>
    patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
  return {
    all,
    at,
    findOperation(method, path) {
      if (path.startsWith('/control')) return 'control';
      const asked = method === 'HEAD' ? 'GET' : method;
      return at(path).find((route) => route.method === asked)?.operation;
    },
  };
}
