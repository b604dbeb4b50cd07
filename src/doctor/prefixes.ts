// Finds an API that has moved: when nothing is where it was, the likely prefixes are tried. It must not know any other question.
import { jsonOf, readBytes } from '../upstream/answer-body.ts';
import { send, type Upstream } from '../upstream/http.ts';
import { finding } from './ask.ts';
import type { Check } from './report.ts';

const VERSIONS = [
  'v1alpha1',
  'v1alpha2',
  'v1alpha3',
  'v1beta1',
  'v1beta2',
  'v1',
  'v2alpha1',
  'v2beta1',
  'v2',
];
const VERSION = /\/v\d+((alpha|beta)\d*)?(?=\/|$)/;

const swapped = (prefix: string): string[] =>
  VERSION.test(prefix) ? VERSIONS.map((version) => prefix.replace(VERSION, `/${version}`)) : [];

const APIS = {
  atlas: {
    setting: 'UPSTREAM_ATLAS_PREFIX',
    usual: ['/atlas/protein/api/v1alpha1', '/atlas/api/v1alpha1', '/api/v1alpha1/atlas/protein'],
    more: ['/atlas/protein/api', '/atlas/api/v1', '/api/v1/atlas'],
    call: { operation: 'feature', method: 'GET', path: '/features/7' },
    lives: [200],
  },
  batch: {
    setting: 'UPSTREAM_BATCH_PREFIX',
    usual: ['/api/v1/batch', '/batch/api/v1'],
    more: ['/api/batch', '/v1/batch', '/api/v1/batches'],
    // Without a token an API that is there refuses, and one that is not has nothing to refuse.
    call: { operation: 'list', method: 'POST', path: '/list', body: { batch_id: 'foldatlas-doctor' } },
    lives: [400, 401, 403, 422],
  },
} as const;

/** HTTP status at a prefix, or 0 where there is none or no JSON. */
async function statusAt(up: Upstream, api: keyof typeof APIS, prefix: string): Promise<number> {
  const settings = {
    ...up.settings,
    ...(api === 'atlas' ? { atlasPrefix: prefix } : { batchPrefix: prefix }),
  };
  try {
    const { call } = APIS[api];
    const answer = await send({ ...up, settings, token: undefined }, { ...call, api, repeatable: false });
    const bytes = await readBytes(up, answer);
    await jsonOf(call.operation, bytes);
    return answer.status;
  } catch {
    return 0;
  }
}

/** Where an API that is not at its prefix has gone. */
export interface Moved {
  readonly prefix: string;
  readonly setting: string;
  readonly check: Check;
}

/** Looks for an API that answers 404 at its prefix. Null when it is where it was, or nowhere likely. */
export async function findMoved(up: Upstream, api: keyof typeof APIS): Promise<Moved | null> {
  const { setting, usual, more, lives } = APIS[api];
  const here = api === 'atlas' ? up.settings.atlasPrefix : up.settings.batchPrefix;
  if ((await statusAt(up, api, here)) !== 404) return null;
  const likely = new Set([here, ...usual].flatMap((prefix) => [prefix, ...swapped(prefix)]).concat(more));
  likely.delete(here);
  for (const prefix of likely) {
    if (!(lives as readonly number[]).includes(await statusAt(up, api, prefix))) continue;
    const drift = { kind: 'prefix', path: setting, expected: here, seen: prefix } as const;
    const name = `prefix, ${api}`;
    return {
      prefix,
      setting,
      check: { name, operation: api, status: 'CHANGED', findings: [finding(api, drift)] },
    };
  }
  return null;
}
