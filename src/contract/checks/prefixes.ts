// Finds the new prefix of an API that has moved, by trying likely ones.

import { errorText } from '../../upstream/errors.ts';
import { parseJsonBody, readBytes } from '../../upstream/http/response-body.ts';
import { requestStream, type Upstream } from '../../upstream/http/upstream-client.ts';
import type { Check } from '../report.ts';
import { finding } from './probe.ts';

const VERSIONS = 'v1alpha1 v1alpha2 v1alpha3 v1beta1 v1beta2 v1 v2alpha1 v2beta1 v2'.split(' ');
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
    // The feature exists in every Atlas.
    canLack: false,
  },
  batch: {
    setting: 'UPSTREAM_BATCH_PREFIX',
    usual: ['/api/v1/batch', '/batch/api/v1'],
    more: ['/api/batch', '/v1/batch', '/api/v1/batches'],
    // Without a token an API refuses; a server without the API answers 404.
    call: { operation: 'list', method: 'POST', path: '/list', body: { batch_id: 'foldatlas-doctor' } },
    lives: [400, 401, 403, 422],
    canLack: true,
  },
} as const;

/** Whether an API answers at a prefix; undefined when every answer was an error of the server. */
async function livesAt(up: Upstream, api: keyof typeof APIS, prefix: string): Promise<boolean | undefined> {
  const { call, lives, canLack } = APIS[api];
  const settings = { ...up.settings, [api === 'atlas' ? 'atlasPrefix' : 'batchPrefix']: prefix };
  let status: number;
  let bytes: Uint8Array;
  try {
    const answer = await requestStream(
      { ...up, settings, token: undefined },
      { ...call, api, repeatable: false },
    );
    status = answer.status;
    bytes = await readBytes(up, answer);
  } catch {
    return undefined;
  }
  if (status === 429 || status >= 500) return undefined;
  const body = await parseJsonBody(call.operation, bytes).catch(() => undefined);
  if (body === undefined) return false;
  if ((lives as readonly number[]).includes(status)) return true;
  // An API's own 404 names what it did not find; that of a server without the route does not.
  const text = errorText(body);
  return canLack && status === 404 && text !== undefined && text !== 'Not Found';
}

/**
 * Looks for an API that does not answer at its prefix. Null when it is there, or at no likely
 * prefix.
 *
 * @param further - prefixes to try first
 */
export async function findMoved(
  up: Upstream,
  api: keyof typeof APIS,
  further: readonly string[] = [],
): Promise<{ readonly prefix: string; readonly setting: string; readonly check: Check } | null> {
  const { setting, usual, more } = APIS[api];
  const here = api === 'atlas' ? up.settings.atlasPrefix : up.settings.batchPrefix;
  if ((await livesAt(up, api, here)) !== false) return null;
  const versions = [here, ...usual].flatMap((prefix) => [prefix, ...swapped(prefix)]);
  const likely = new Set([...further, ...versions, ...more]);
  likely.delete(here);
  for (const prefix of likely) {
    if ((await livesAt(up, api, prefix)) !== true) continue;
    const drift = { kind: 'prefix', path: setting, expected: here, seen: prefix } as const;
    const check: Check = {
      name: `prefix, ${api}`,
      operation: api,
      status: 'CHANGED',
      findings: [finding(api, drift)],
    };
    return { prefix, setting, check };
  }
  return null;
}
