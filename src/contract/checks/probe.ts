// One check of the doctor: a call that is sent once, and the comparison of its answer with the
// contract.
import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamError } from '../../upstream/errors.ts';
import { type Downloads, download } from '../../upstream/http/download.ts';
import { parseJsonBody, readBytes } from '../../upstream/http/response-body.ts';
import {
  type Call,
  requestStream,
  type StreamedResponse,
  type Upstream,
} from '../../upstream/http/upstream-client.ts';
import { fromWire, isFields } from '../../upstream/renames.ts';
import { type AnswerName, isAnswerName, PROMISED } from '../answers.ts';
import { compare, type Drift, keyName } from '../compare.ts';
import { graphqlImpactOf } from '../graphql-impact.ts';
import { type Check, type Finding, isProblem, type Measured } from '../report.ts';
import type { Asked, Fields } from '../rules.ts';
import { closest, shapeOf } from '../shape.ts';

export interface Probe {
  readonly name: string;
  readonly call: Omit<Call, 'repeatable'>;
  /** Statuses that the contract allows, the usual one first; 200 when absent. */
  readonly statuses?: readonly number[];
  /** What the body is compared with; the answer of the operation when absent, unless it is a refusal. */
  readonly answer?: AnswerName;
  readonly asked?: Asked;
  /** Start of its content type; JSON when absent. */
  readonly content?: string;
  readonly token?: boolean;
  readonly examine?: (
    body: unknown,
    bytes: Uint8Array,
    headers: StreamedResponse['headers'],
  ) => Promise<Drift[]> | Drift[];
}

type Answered = Pick<StreamedResponse, 'status' | 'headers'> & { readonly bytes: Uint8Array };

/** A check with its answer, for the checks that follow from it. */
export interface ProbeResult {
  readonly check: Check;
  /** Undefined without a readable answer of an allowed status. */
  readonly body?: unknown;
}

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
/** What an answer of the Batch API holds, with its envelope or without. */
export const dataOf = ({ body }: ProbeResult): Fields => fieldsOf(fieldsOf(body).data ?? body);

/** A difference with its meaning. @param asked - the name of its rules, unless it names them */
export function finding(asked: string, { as: answer = asked, ...drift }: Drift): Finding {
  return { ...drift, answer, meaning: graphqlImpactOf(answer, drift) };
}

/** A check that came to an end. @param as - the name of the rules */
const checkOf = (
  { name, operation, as }: { readonly name: string; readonly operation: string; readonly as: string },
  drifts: readonly Drift[],
  more: Partial<Check> = {},
): Check => ({
  name,
  operation,
  status: drifts.some(isProblem) ? 'CHANGED' : 'OK',
  ...more,
  findings: drifts.map((drift) => finding(as, drift)),
});

export const skippedCheck = (
  name: string,
  operation: string,
  note: string,
  status: Check['status'] = 'SKIPPED',
): Check => ({ name, operation, status, note, findings: [] });

const POLL_MS = 500;

const since = (started: number): number => Math.round(performance.now() - started);

/** Request fields that the service reports as missing (422, `detail[].loc`), with those sent. */
function renamedInRequest({ query, body: given }: Probe['call'], body: unknown): Drift[] {
  const sent = [...Object.keys(query ?? {}), ...Object.keys(fieldsOf(given))];
  const { detail } = fieldsOf(body);
  return (Array.isArray(detail) ? detail.map(fieldsOf) : []).flatMap(({ loc, type }): Drift[] => {
    if (!Array.isArray(loc) || !/missing/.test(String(type))) return [];
    const name = String(loc.at(-1));
    const best = closest(name, sent);
    if (sent.includes(name) || best === undefined) return [];
    const seen = `named ${keyName(name)}`;
    return [{ kind: 'renamed', path: `request.${best.name}`, expected: 'accepted', seen, name }];
  });
}

/** Differences in an answer; one of the Batch API without an envelope is compared as its `data`. */
export function differences(answer: AnswerName, body: unknown, asked: Asked = {}): Drift[] {
  const promised = PROMISED[answer];
  const drifts = compare(promised, body, { complete: true, asked });
  const isEnveloped = shapeOf(promised.schema).keys.has('data');
  if (!isEnveloped || !isFields(body) || Object.hasOwn(body, 'data')) return drifts;
  const whole = { status: 'success', request_id: '', data: body };
  const bare = compare(promised, whole, { complete: true, asked });
  return bare.filter(isProblem).length < drifts.filter(isProblem).length ? bare : drifts;
}

/** Checks an answer. It never throws for what the upstream does: the check contains the failure. */
async function runProbe(
  up: Upstream,
  { name, call, statuses = [200], content = 'application/json', ...probe }: Probe,
  send: () => Promise<Answered>,
): Promise<ProbeResult> {
  const { operation } = call;
  const started = performance.now();
  try {
    const { status: http, headers, bytes } = await send();
    const type = [headers['content-type'] ?? ''].flat()[0]?.toLowerCase() ?? '';
    const end = (drifts: readonly Drift[], as: string, body?: unknown): ProbeResult => ({
      check: checkOf({ name, operation, as }, drifts, { milliseconds: since(started), http }),
      body,
    });
    const parse = () => parseJsonBody(operation, bytes).catch(() => undefined);
    if (!statuses.includes(http)) {
      // A service that is busy or broken says nothing about its contract.
      if (http === 429 || http >= 500)
        return {
          check: { ...end([], operation).check, status: 'UNREACHABLE', note: `answered HTTP ${http}` },
        };
      const renamed = http === 422 && type.includes('json') ? renamedInRequest(call, await parse()) : [];
      const expected = statuses.join(' or ');
      const other = { kind: 'status', path: 'HTTP status', expected, seen: String(http) } as const;
      return end(renamed.length > 0 ? renamed : [other], operation);
    }
    const drifts: Drift[] = [];
    if (!type.startsWith(content)) {
      const seen = (/^[\w.+-]+\/[\w.+-]+/.exec(type)?.[0] ?? 'none').slice(0, 60);
      drifts.push({ kind: 'content', path: 'content-type', expected: content, seen });
    }
    let body: unknown;
    if (content === 'application/json' && bytes.byteLength > 0) {
      body = await parse();
      if (body === undefined) {
        const broken = { kind: 'content', path: 'body', expected: 'JSON', seen: 'something else' } as const;
        return end(drifts.length > 0 ? drifts : [broken], operation);
      }
    }
    const own = isAnswerName(operation) && http < 300 ? operation : undefined;
    const { answer = own } = probe;
    if (body !== undefined && answer !== undefined) {
      body = fromWire(up.settings.mapping, answer, body);
      drifts.push(...differences(answer, body, probe.asked));
    }
    drifts.push(...((await probe.examine?.(body, bytes, headers)) ?? []));
    return end(drifts, answer ?? operation, body);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const failed = skippedCheck(name, operation, error.failure.code, 'UNREACHABLE');
    return { check: { ...failed, milliseconds: since(started) } };
  }
}

export interface ProbeOptions {
  readonly downloads: Downloads;
  /** Milliseconds that a job or a fold may take. */
  readonly patience: number;
  readonly onProgress: (line: string) => void;
  /** Answers of Submit, by the names of their checks: what was paid for is never asked for again. */
  readonly paid: Map<string, Promise<Answered>>;
}

export type Probes = ReturnType<typeof createProbes>;

/** Runs probes one after the other, and keeps their checks and what they measured. */
export function createProbes(up: Upstream, { downloads, patience, onProgress, paid }: ProbeOptions) {
  const checks: Check[] = [];
  const limits: Measured[] = [];

  async function send({ call, token = true }: Probe): Promise<Answered> {
    const caller = token ? up : { ...up, token: undefined };
    const answer = await requestStream(caller, { ...call, repeatable: false });
    return { status: answer.status, headers: answer.headers, bytes: await readBytes(up, answer) };
  }
  /** Runs a probe whose check may be replaced. */
  const ask = (probe: Probe): Promise<ProbeResult> =>
    runProbe(up, probe, () => {
      if (probe.call.operation !== 'submit') return send(probe);
      const sent = paid.get(probe.name) ?? send(probe);
      paid.set(probe.name, sent);
      return sent;
    });
  const keep = (result: ProbeResult): ProbeResult => {
    checks.push(result.check);
    return result;
  };
  return {
    up,
    checks,
    limits,
    ask,
    keep,
    run: async (probe: Probe) => keep(await ask(probe)),
    /** Notes a limit that a call beyond it has tried, unless the service did not answer it. */
    measure(name: string, allowed: number, { check: { status, http } }: ProbeResult): void {
      if (status === 'UNREACHABLE') return;
      const isRefused = http === 400 || http === 422;
      const seen = `${allowed + 1} ${isRefused ? 'refused' : `answered with HTTP ${http}`}`;
      limits.push({ name, expected: `at most ${allowed}`, seen });
    },
    /** Repeats a probe while its answer says that the work goes on. */
    async poll(probe: Probe, isOpen: (result: ProbeResult) => boolean, line: string): Promise<ProbeResult> {
      const until = Date.now() + patience;
      let result = await ask(probe);
      while (isOpen(result) && Date.now() < until) {
        onProgress(line);
        await sleep(POLL_MS);
        result = await ask(probe);
      }
      return keep(result);
    },
    /** Checks a file behind a signed URL. @param read - the differences in its bytes */
    async download(name: string, as: string, url: string, read: (bytes: Uint8Array) => Promise<Drift[]>) {
      const started = performance.now();
      try {
        const file = await download(up, downloads, url);
        if (file === null) throw new Error('the signed URL is refused');
        const drifts = await read(await readBytes(up, file));
        const more = { http: file.status, milliseconds: since(started) };
        checks.push(checkOf({ name, operation: 'download', as }, drifts, more));
      } catch (error) {
        const note = error instanceof Error ? error.message : String(error);
        checks.push(skippedCheck(name, 'download', note, 'UNREACHABLE'));
      }
    },
  };
}
