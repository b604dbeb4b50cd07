// What a process's answers have shown of the prefixes of the two APIs.

export type Api = 'atlas' | 'batch';

export interface PrefixState {
  /** It has answered something that only the API answers. */
  isProven: boolean;
  /** It has answered something else than 404. */
  hasAnswered: boolean;
  /** It has answered 404 as a server does that has no such route, and nothing else. */
  isWrong: boolean;
}

type PrefixStates = Readonly<Record<Api, PrefixState>>;

const unknown = (): PrefixState => ({ isProven: false, hasAnswered: false, isWrong: false });
const states = new WeakMap<object, PrefixStates>();

/** By the settings of an upstream, of which a process has one for each. */
export function prefixStates(settings: object): PrefixStates {
  const known = states.get(settings);
  if (known !== undefined) return known;
  const made = { atlas: unknown(), batch: unknown() };
  states.set(settings, made);
  return made;
}

/** Statuses that only the API gives for its input; a proxy gives others for any path. */
const OF_THE_API = new Set([400, 409, 410, 422]);

/** Takes note of an answer. */
export function noteAnswer(
  settings: object,
  api: Api,
  status: number,
  contentType: string | string[] | undefined,
): void {
  const state = prefixStates(settings)[api];
  if (status === 404) return;
  state.hasAnswered = true;
  if (state.isProven || String(contentType ?? '').includes('html')) return;
  if ((status >= 200 && status < 300) || OF_THE_API.has(status)) {
    state.isProven = true;
    state.isWrong = false;
  }
}
