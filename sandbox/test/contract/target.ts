// The target of the contract suite: a deployment named by CONTRACT_URL, or a sandbox started
// here.
import { ManualClock } from '../../src/clock.ts';
import { startSandbox } from '../../src/sandbox.ts';

const env = process.env;

/** The deployment under test; undefined: a sandbox of our own. */
const remoteUrl = env.CONTRACT_URL?.replace(/\/+$/, '');

/** Tests that cost credits always run on our own sandbox, and elsewhere only when told. */
export const maySpend = remoteUrl === undefined || env.CONTRACT_SPEND === '1';

/** Tests that need a held clock or a control route run on our own sandbox only. */
export const isOurs = remoteUrl === undefined;

/** A deployment takes its time. */
export const patience = remoteUrl === undefined ? {} : { timeout: 1_800_000 };

/**
 * Batch operations need a token; without one the suite checks the Atlas and the refusals of
 * authentication.
 */
export const hasToken = remoteUrl === undefined || env.CONTRACT_TOKEN !== undefined;

/** Names that the spec leaves to the deployment. */
const names = {
  batch: env.CONTRACT_BATCH_PREFIX ?? '/api/v1/batch',
  atlas: env.CONTRACT_ATLAS_PREFIX ?? '/atlas/protein/api/v1alpha1',
  model: env.CONTRACT_MODEL ?? 'foldmodel2-2026-05-cutoff-2025',
  limitField: env.CONTRACT_LIMIT_FIELD ?? 'limit',
  cursorField: env.CONTRACT_CURSOR_FIELD ?? 'cursor',
  /** A protein that the Atlas holds, with a structure, and its knowledge-base names. */
  hash: env.CONTRACT_HASH ?? 'efebacde779fb9ede77f2039ec6cfe09',
  accession: env.CONTRACT_ACCESSION ?? 'P62736',
  entryName: env.CONTRACT_ENTRY_NAME ?? 'ACTA_HUMAN',
};

export type Json = Record<string, unknown>;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member that has to be an object. */
export function objectAt(value: unknown, key: string): Json {
  const member = isJson(value) ? value[key] : undefined;
  if (!isJson(member)) throw new Error(`${key} is ${JSON.stringify(member)?.slice(0, 80)}, no object`);
  return member;
}

/** A member that has to be text. */
export function textAt(value: unknown, key: string): string {
  const member = isJson(value) ? value[key] : undefined;
  if (typeof member !== 'string')
    throw new Error(`${key} is ${JSON.stringify(member)?.slice(0, 80)}, no text`);
  return member;
}

/** A member that has to be a number. */
export function numberAt(value: unknown, key: string): number {
  const member = isJson(value) ? value[key] : undefined;
  if (typeof member !== 'number')
    throw new Error(`${key} is ${JSON.stringify(member)?.slice(0, 80)}, no number`);
  return member;
}

/** A member that has to be an array of objects. */
export function listAt(value: unknown, key: string): Json[] {
  const member = isJson(value) ? value[key] : undefined;
  if (!Array.isArray(member) || !member.every(isJson)) throw new Error(`${key} is no array of objects`);
  return member;
}

export interface BatchAnswer {
  status: number;
  headers: Headers;
  body: Json;
  data: Json;
}

export interface Target {
  readonly names: typeof names;
  readonly url: string;
  /** One Batch operation; `headers` may replace the bearer token. */
  batch(operation: string, body: unknown, headers?: Record<string, string>): Promise<BatchAnswer>;
  /** One Atlas request, without a token. */
  atlas(path: string, init?: RequestInit): Promise<Response>;
  /** Lets time pass: at once on our own sandbox, really elsewhere. */
  wait(ms: number): Promise<void>;
  /** A control route of our own sandbox. */
  control(path: string, body: unknown): Promise<void>;
  close(): Promise<void>;
}

async function readJson(response: Response): Promise<Json> {
  const value: unknown = await response.json();
  if (!isJson(value)) throw new Error(`the body of a ${response.status} is no object`);
  return value;
}

export async function openTarget(): Promise<Target> {
  const clock = new ManualClock(Date.now());
  const sandbox = isOurs ? await startSandbox({ size: 'small', control: true, clock }) : undefined;
  const url = sandbox?.url ?? remoteUrl ?? '';
  const token = env.CONTRACT_TOKEN ?? 'contract-suite';
  return {
    names,
    url,
    async batch(operation, body, headers = {}) {
      const response = await fetch(`${url}${names.batch}/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const json = await readJson(response);
      return {
        status: response.status,
        headers: response.headers,
        body: json,
        data: isJson(json.data) ? json.data : {},
      };
    },
    atlas: (path, init) => fetch(`${url}${names.atlas}${path}`, init),
    async wait(ms) {
      if (sandbox !== undefined) clock.advance(ms);
      else await new Promise((resolve) => setTimeout(resolve, ms));
    },
    async control(path, body) {
      const response = await fetch(`${url}/control/${path}`, { method: 'POST', body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`control answered ${response.status}`);
    },
    async close() {
      await sandbox?.close();
    },
  };
}
