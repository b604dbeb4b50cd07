// Finds where an API is. A prefix is believed only where a path beside it that cannot exist is answered
// differently: a server may answer every path alike.
import { errorText } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import type { Api } from '../upstream/settings.ts';
import { type Answer, ask, type Check, type Probe, skipped } from './probe.ts';

const VERSIONS = ['v1alpha1', 'v1alpha2', 'v1beta1', 'v1', 'v2alpha1', 'v2beta1', 'v2'];
const VERSION = /\/v\d+((alpha|beta)\d*)?(?=\/|$)/;

interface Place {
  readonly key: 'atlasPrefix' | 'batchPrefix';
  readonly setting: string;
  readonly call: Probe['call'];
  readonly usual: readonly string[];
  isRight(answer: Answer): boolean;
}

const PLACES: Readonly<Record<Api, Place>> = {
  atlas: {
    key: 'atlasPrefix',
    setting: 'UPSTREAM_ATLAS_PREFIX',
    call: { operation: 'feature', api: 'atlas', method: 'GET', path: '/features/7' },
    usual: [
      '/atlas/protein/api/v1alpha1',
      '/atlas/api/v1alpha1',
      '/api/v1alpha1/atlas/protein',
      '/api/v1/atlas',
    ],
    isRight: ({ status, body }) => status === 200 && Object(body).feature_index === 7,
  },
  batch: {
    key: 'batchPrefix',
    setting: 'UPSTREAM_BATCH_PREFIX',
    call: {
      operation: 'list',
      api: 'batch',
      method: 'POST',
      path: '/list',
      body: { batch_id: 'foldatlas-doctor-no-such-id', include_responses: false },
    },
    usual: ['/api/v1/batch', '/batch/api/v1', '/v1/batch', '/api/batch'],
    isRight: ({ status, body }) => status < 500 && errorText(body) !== undefined,
  },
};

const told = ({ status, type, body }: Answer): string => `${status} ${type} ${errorText(body)}`;

async function isAt(up: Upstream, { key, call, isRight }: Place, prefix: string): Promise<boolean> {
  const at = (path: string) => ask({ ...up, settings: { ...up.settings, [key]: path } }, call);
  const answer = await at(prefix);
  return isRight(answer) && told(answer) !== told(await at(`${prefix}-foldatlas-doctor`));
}

const withVersions = (prefix: string): string[] =>
  VERSION.test(prefix)
    ? [prefix, ...VERSIONS.map((version) => prefix.replace(VERSION, `/${version}`))]
    : [prefix];

/**
 * Looks for an API at its prefix, then at likely ones.
 *
 * @returns the check, and the prefix where it is; null where it is nowhere
 */
export async function findPrefix(
  up: Upstream,
  api: Api,
): Promise<{ readonly check: Check; readonly prefix: string | null }> {
  const place = PLACES[api];
  const name = `prefix, ${api}`;
  const here = up.settings[place.key];
  try {
    if (await isAt(up, place, here)) return { check: skipped(name, '', 'OK'), prefix: here };
    for (const prefix of new Set([here, ...place.usual].flatMap(withVersions))) {
      if (prefix === here || !(await isAt(up, place, prefix).catch(() => false))) continue;
      const setting = `${place.setting}=${prefix}`;
      const moved = { path: place.setting, expected: here, seen: prefix, setting };
      return { check: { ...skipped(name, '', 'CHANGED'), differences: [moved] }, prefix };
    }
  } catch {
    return { check: skipped(name, 'no answer', 'UNREACHABLE'), prefix: null };
  }
  const expected = `the API at ${here}, and something else beside it`;
  const lost = { path: place.setting, expected, seen: 'no such answer', setting: place.setting };
  return { check: { ...skipped(name, '', 'CHANGED'), differences: [lost] }, prefix: null };
}
