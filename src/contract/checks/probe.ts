// One check of the doctor: a call that is sent once, and the comparison of its answer with the
// contract.

import { UpstreamError } from '../../upstream/errors.ts';
import { parseJsonBody, readBytes } from '../../upstream/http/response-body.ts';
import {
  type Call,
  requestStream,
  type StreamedResponse,
  type Upstream,
} from '../../upstream/http/upstream-client.ts';
import { fromWire } from '../../upstream/renames.ts';
import { type AnswerName, PROMISED } from '../answers.ts';
import { compare, type Drift, keyName } from '../compare.ts';
import { graphqlImpactOf } from '../graphql-impact.ts';
import { likeness } from '../rename.ts';
import { type Check, type CheckStatus, type Finding, isProblem } from '../report.ts';
import { type Asked as AskedFor, isFields } from '../rules.ts';
import { shapeOf } from '../shape.ts';

/** A call and the requirements for its answer. */
export interface Probe {
  readonly name: string;
  readonly call: Omit<Call, 'repeatable'>;
  /** Statuses that the contract allows, the usual one first. */
  readonly statuses: readonly number[];
  /** Name of the rules for the body; absent when the body is not JSON or `examine` reads it. */
  readonly answer?: AnswerName | undefined;
  /** The arguments that the answer has to agree with. */
  readonly asked?: AskedFor;
  /** Start of its content type; JSON when absent. */
  readonly content?: string;
  /** Whether to send the token; true when absent. */
  readonly token?: boolean;
  /** Additional checks of the body. */
  readonly examine?: (
    body: unknown,
    bytes: Uint8Array,
    headers: StreamedResponse['headers'],
  ) => Promise<Drift[]> | Drift[];
}

/** A check with its answer, for the checks that follow from it. */
export interface ProbeResult {
  readonly check: Check;
  /** Undefined without a readable answer of an allowed status. */
  readonly body: unknown;
  readonly headers: StreamedResponse['headers'];
  readonly status: number;
}

const text = (header: string | string[] | undefined): string =>
  (Array.isArray(header) ? header[0] : header)?.toLowerCase() ?? '';

/**
 * A difference with its meaning.
 *
 * @param asked - the name of the rules, where the difference does not name them
 */
export function finding(asked: string, { as: answer = asked, ...drift }: Drift): Finding {
  return { ...drift, answer, meaning: graphqlImpactOf(answer, drift) };
}

const typeOf = (content: string): string => (/^[\w.+-]+\/[\w.+-]+/.exec(content)?.[0] ?? 'none').slice(0, 60);

/**
 * Names of request fields that the service reports as missing (422, `detail[].loc`), with those
 * that were sent.
 */
function renamedInRequest(call: Probe['call'], body: unknown): Drift[] {
  const sent = [...Object.keys(call.query ?? {}), ...(isFields(call.body) ? Object.keys(call.body) : [])];
  const details: readonly unknown[] = isFields(body) && Array.isArray(body.detail) ? body.detail : [];
  return details.flatMap((detail): Drift[] => {
    if (!isFields(detail) || !Array.isArray(detail.loc) || !/missing/.test(String(detail.type))) return [];
    const wanted = String(detail.loc.at(-1));
    if (sent.includes(wanted)) return [];
    const [best] = sent
      .map((name) => ({ name, alike: likeness(name, wanted) }))
      .sort((a, b) => b.alike - a.alike);
    if (best === undefined) return [];
    const seen = `named ${keyName(wanted)}`;
    return [{ kind: 'renamed', path: `request.${best.name}`, expected: 'accepted', seen, name: wanted }];
  });
}

/** Statuses of a service that is busy or broken, which say nothing about its contract. */
const isTrouble = (status: number): boolean => status === 429 || status >= 500;

const NO_ANSWER: Omit<ProbeResult, 'check'> = { body: undefined, headers: {}, status: 0 };

/**
 * Differences in an answer. The function compares an answer of the Batch API without an envelope as
 * its `data`, as the gateway reads it.
 */
export function differences(answer: AnswerName, body: unknown, asked: AskedFor = {}): Drift[] {
  const promised = PROMISED[answer];
  const drifts = compare(promised, body, { complete: true, asked });
  const isEnveloped = shapeOf(promised.schema).keys.has('data');
  if (!isEnveloped || !isFields(body) || Object.hasOwn(body, 'data')) return drifts;
  const bare = compare(
    promised,
    { status: 'success', request_id: '', data: body },
    { complete: true, asked },
  );
  return bare.filter(isProblem).length < drifts.filter(isProblem).length ? bare : drifts;
}

/** Sends the call. It never throws: the check contains the failure. */
export async function runProbe(up: Upstream, question: Probe): Promise<ProbeResult> {
  const { name, statuses, call, answer: compared } = question;
  const { operation } = call;
  const started = performance.now();
  const end = (
    status: CheckStatus,
    more: { http?: number; note?: string; drifts?: readonly Drift[]; as?: string } = {},
  ): Check => {
    const { drifts = [], as = compared ?? operation, ...rest } = more;
    const milliseconds = Math.round(performance.now() - started);
    return {
      name,
      operation,
      status,
      milliseconds,
      ...rest,
      findings: drifts.map((drift) => finding(as, drift)),
    };
  };
  try {
    const asker = question.token === false ? { ...up, token: undefined } : up;
    const answer = await requestStream(asker, { ...call, repeatable: false });
    const http = answer.status;
    const bytes = await readBytes(up, answer);
    const content = text(answer.headers['content-type']);
    const rest = { headers: answer.headers, status: http };
    const wanted = question.content ?? 'application/json';
    const isJson = content.includes('json');
    if (!statuses.includes(http)) {
      if (isTrouble(http))
        return {
          check: end('UNREACHABLE', { http, note: `answered HTTP ${http}` }),
          body: undefined,
          ...rest,
        };
      const body = isJson ? await parseJsonBody(operation, bytes).catch(() => undefined) : undefined;
      const renamed = http === 422 ? renamedInRequest(call, body) : [];
      const status: Drift = {
        kind: 'status',
        path: 'HTTP status',
        expected: statuses.join(' or '),
        seen: String(http),
      };
      const drifts = renamed.length > 0 ? renamed : [status];
      return { check: end('CHANGED', { http, drifts, as: operation }), body: undefined, ...rest };
    }
    const typed: Drift[] = content.startsWith(wanted)
      ? []
      : [{ kind: 'content', path: 'content-type', expected: wanted, seen: typeOf(content) }];
    if (wanted === 'application/json' && bytes.byteLength > 0) {
      let body: unknown;
      try {
        body = await parseJsonBody(operation, bytes);
      } catch {
        const broken: Drift = { kind: 'content', path: 'body', expected: 'JSON', seen: 'something else' };
        const drifts = typed.length > 0 ? typed : [broken];
        return { check: end('CHANGED', { http, drifts, as: operation }), body: undefined, ...rest };
      }
      const named = compared === undefined ? body : fromWire(up.settings.mapping, compared, body);
      const drifts = [
        ...typed,
        ...(compared === undefined ? [] : differences(compared, named, question.asked)),
        ...((await question.examine?.(named, bytes, answer.headers)) ?? []),
      ];
      return {
        check: end(drifts.some(isProblem) ? 'CHANGED' : 'OK', { http, drifts }),
        body: named,
        ...rest,
      };
    }
    const drifts = [...typed, ...((await question.examine?.(undefined, bytes, answer.headers)) ?? [])];
    return {
      check: end(drifts.some(isProblem) ? 'CHANGED' : 'OK', { http, drifts }),
      body: undefined,
      ...rest,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { check: end('UNREACHABLE', { note: error.failure.code }), ...NO_ANSWER };
  }
}

/** Compares an earlier answer again, for a call that cannot be repeated. */
export function recheck(up: Upstream, { name, call, answer, asked }: Probe, body: unknown): ProbeResult {
  const as = answer ?? call.operation;
  const named = fromWire(up.settings.mapping, as, structuredClone(body));
  const drifts = answer === undefined ? [] : differences(answer, named, asked);
  const status = drifts.some(isProblem) ? 'CHANGED' : 'OK';
  const findings = drifts.map((drift) => finding(as, drift));
  return {
    check: { name, operation: call.operation, status, findings },
    body: named,
    headers: {},
    status: 200,
  };
}

/** A check that is not run, and why. */
export const skippedCheck = (name: string, operation: string, note: string): Check => ({
  name,
  operation,
  status: 'SKIPPED',
  note,
  findings: [],
});
