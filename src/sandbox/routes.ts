// Which operation a request is for: the one table of the sandbox's routes, for the index page, 405 answers, faults and
// observers. It must not know what an operation does.

export const batchPrefix = '/api/v1/batch';
export const atlasPrefix = '/atlas/protein/api/v1alpha1';

interface Route {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Its variable parts in braces. */
  readonly path: string;
}

export const routes: readonly Route[] = [
  { operation: 'submit', method: 'POST', path: `${batchPrefix}/submit` },
  { operation: 'list', method: 'POST', path: `${batchPrefix}/list` },
  { operation: 'status', method: 'POST', path: `${batchPrefix}/status` },
  { operation: 'cancel', method: 'POST', path: `${batchPrefix}/cancel` },
  { operation: 'features', method: 'GET', path: `${atlasPrefix}/features` },
  { operation: 'feature', method: 'GET', path: `${atlasPrefix}/features/{feature_index}` },
  { operation: 'cluster', method: 'GET', path: `${atlasPrefix}/clusters/{protein_hash}` },
  { operation: 'bulk', method: 'POST', path: `${atlasPrefix}/proteins/batch` },
  { operation: 'bulkJob', method: 'GET', path: `${atlasPrefix}/proteins/batch/jobs/{job_id}` },
  { operation: 'bulkJobDelete', method: 'DELETE', path: `${atlasPrefix}/proteins/batch/jobs/{job_id}` },
  { operation: 'protein', method: 'GET', path: `${atlasPrefix}/proteins/{protein_hash}` },
  {
    operation: 'thumbnail',
    method: 'GET',
    path: `${atlasPrefix}/proteins/{protein_hash}/thumbnail/{thumbnail_type}`,
  },
  { operation: 'uniprot', method: 'GET', path: `${atlasPrefix}/uniprot/{uniprot_id}` },
  { operation: 'similarity', method: 'GET', path: `${atlasPrefix}/similarity-search` },
  { operation: 'download', method: 'GET', path: '/downloads/results/{task_id}.json' },
  { operation: 'download', method: 'GET', path: '/downloads/artifacts/{task_id}/{name}.json' },
  { operation: 'download', method: 'GET', path: '/downloads/bulk/{job_id}.zip' },
];

const literal = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${literal(route.path).replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Routes of a path, whatever their method; the first one of a method wins. */
export function routesAt(path: string): Route[] {
  return patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
}

/** The operation that a request is for; undefined when there is none. HEAD counts as GET. */
export function operationOf(method: string, path: string): string | undefined {
  if (path.startsWith('/control')) return 'control';
  const asked = method === 'HEAD' ? 'GET' : method;
  return routesAt(path).find((route) => route.method === asked)?.operation;
}
