// What the upstream's answers have shown of it: whether the prefixes of the two APIs are right, and
// whether it is a sandbox.
import type { StreamedResponse } from './upstream-client.ts';

export type Api = 'atlas' | 'batch';

export interface PrefixState {
  /** It has answered something that only the API answers. */
  isProven: boolean;
  /** It has answered something else than 404. */
  hasAnswered: boolean;
  /** It has answered 404 as a server does that has no such route, and nothing else. */
  isWrong: boolean;
}

interface PrefixStates extends Readonly<Record<Api, PrefixState>> {
  /** Whether it marks its answers as those of a sandbox; undefined before its first answer. */
  isSandbox: boolean | undefined;
}

const unknown = (): PrefixState => ({ isProven: false, hasAnswered: false, isWrong: false });
const states = new WeakMap<object, PrefixStates>();

/** By the settings of an upstream, of which a process has one for each. */
export function prefixStates(settings: object): PrefixStates {
  const known = states.get(settings);
  if (known !== undefined) return known;
  const made: PrefixStates = { atlas: unknown(), batch: unknown(), isSandbox: undefined };
  states.set(settings, made);
  return made;
}

/** Statuses that only the API gives for its input; a proxy gives others for any path. */
const OF_THE_API = new Set([400, 409, 410, 422]);

/** Notes whether an answer has the header of the sandbox. A proxy's error says nothing of it. */
export function noteSandbox(
  settings: object,
  { status, headers }: Pick<StreamedResponse, 'status' | 'headers'>,
): void {
  const states = prefixStates(settings);
  if (headers['x-sandbox'] === '1') states.isSandbox = true;
  else if (states.isSandbox === undefined && status < 500) states.isSandbox = false;
}

/** Takes note of an answer. */
export function noteAnswer(
  settings: object,
  api: Api,
  { status, headers }: Pick<StreamedResponse, 'status' | 'headers'>,
): void {
  noteSandbox(settings, { status, headers });
  const state = prefixStates(settings)[api];
  if (status === 404) return;
  state.hasAnswered = true;
  if (state.isProven || String(headers['content-type'] ?? '').includes('html')) return;
  if ((status >= 200 && status < 300) || OF_THE_API.has(status)) {
    state.isProven = true;
    state.isWrong = false;
  }
}
