// What comes of a query on the short way: status, headers and bytes, put together from the same functions as on the long one, and
// written with node:http's own means. It decides nothing about who gets it.
import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { isKnown } from '../entity-tag.ts';
import { keptHeaders, keptSeconds, NOT_KEPT } from '../plugins/use-http-cache.ts';
import { DATA_HEADERS } from '../plugins/use-security-headers.ts';
import { bodyOf, headOf } from '../protocol/answer.ts';
import { allOf, type Body, LARGE } from '../protocol/body.ts';
import type { MediaType } from '../protocol/media-type.ts';
import { framingOf } from '../protocol/streamed-answer.ts';
import { type LateBodies, writeBody } from './write-body.ts';

/** An answer as it is written, and as it is kept for others. */
export interface Finished {
  readonly status: number;
  /** Names and values in turn, as node:http takes them. */
  readonly headers: readonly string[];
  /** Bytes, or how to make those of a large answer, which is not kept. */
  readonly body: Buffer | Body | LateBodies;
  /** Such as `"abc"`; undefined where clients may not keep the answer. */
  readonly etag: string | undefined;
  /** Whether anybody between here and the caller may keep it. */
  readonly isPublic: boolean;
  /** For how many seconds it may be given to others; 0 for not at all. */
  readonly seconds: number;
  /** The operation's own name; null for one without. */
  readonly name: string | null;
}

export interface FinishOptions {
  /** Headers that every answer carries. */
  readonly always: Readonly<Record<string, string>>;
  /** Whether answers differ by the origin of the page that asks. */
  readonly byOrigin: boolean;
  readonly proofNeeded: boolean;
}

/** What of a query its answer depends on, the result apart. */
export interface Question {
  readonly method: string | undefined;
  readonly mediaType: MediaType;
  readonly name: string | null;
  /** For how long its answer may be kept by anybody; null for not at all. */
  readonly seconds: number | null;
}

/** What an answer begins with that nobody may keep. */
interface Beginning {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> & { readonly vary: string };
  /** The headers as node:http takes them. */
  readonly flat: readonly string[];
  /** Whether the result itself says who may keep its answer. */
  readonly saysWhoKeeps: boolean;
}

export interface Finishing {
  /** Makes the answer that a result is. */
  finish(result: ExecutionResult, question: Question): Finished;
  /** Makes the answer that a growing result is, whole or in parts. What fails in it later changes neither status nor headers. */
  finishGrowing(bodies: AsyncIterable<Body>, question: Pick<Question, 'mediaType' | 'name'>): Finished;
}

/** Opens the making of answers. */
export function openFinishing({ always, byOrigin, proofNeeded }: FinishOptions): Finishing {
  const usual = new Map<MediaType, Beginning>();

  function begin(result: ExecutionResult, mediaType: MediaType): Beginning {
    const { status, headers: own } = headOf(result, mediaType);
    const vary = byOrigin ? `${own.vary}, origin` : own.vary;
    const headers = { 'cache-control': NOT_KEPT, ...DATA_HEADERS, ...always, ...own, vary };
    const saysWhoKeeps = Object.hasOwn(own, 'cache-control');
    return { status, headers, flat: Object.entries(headers).flat(), saysWhoKeeps };
  }

  /** Of a result that asks for nothing else, as nearly all do: to put each together anew takes longer than to make a small body. */
  function usualBeginning(mediaType: MediaType): Beginning {
    const known = usual.get(mediaType) ?? begin({ data: {} }, mediaType);
    usual.set(mediaType, known);
    return known;
  }

  return {
    finishGrowing(bodies, { mediaType, name }) {
      const { status, flat: headers } = usualBeginning(mediaType);
      const body = { byteLength: Number.POSITIVE_INFINITY, bodies };
      return { status, headers, body, etag: undefined, isPublic: false, seconds: 0, name };
    },
    finish(result, { method, mediaType, name, seconds: most }) {
      const isUsual = result.errors === undefined && result.extensions === undefined;
      const { status, headers, flat, saysWhoKeeps } = isUsual
        ? usualBeginning(mediaType)
        : begin(result, mediaType);
      const { opening, head, tail, closing } = framingOf(mediaType);
      const made = bodyOf(result, `${opening}${head}`, `${tail}${closing}`);
      const seconds = (status === 200 && most !== null ? keptSeconds(result, most) : null) ?? 0;
      // An answer that is made piece by piece has no tag, which would take all of it at once.
      const isWhole = typeof made === 'string' || Number.isFinite(made.byteLength);
      const isKept = method === 'GET' && seconds > 0 && !saysWhoKeeps && isWhole;
      // The tag of what clients may keep comes before the bytes and is made of them all.
      const body = typeof made === 'string' || made.byteLength <= LARGE || isKept ? allOf(made) : made;
      const kept = isKept && Buffer.isBuffer(body) ? keptHeaders(body, seconds, proofNeeded) : undefined;
      const vary = [headers.vary, ...(kept?.vary ?? []).slice(1)].join(', ');
      return {
        status,
        seconds,
        headers: kept === undefined ? flat : Object.entries({ ...headers, ...kept, vary }).flat(),
        body,
        etag: kept?.etag,
        isPublic: isKept && !proofNeeded,
        name,
      };
    },
  };
}

/** What a client is given at once. */
export interface Content {
  readonly status: number;
  /** Names and values in turn, the length of the body among them. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);
/** Bytes of a body that are cheaper to copy than to write by themselves. */
const SMALL = 16_384;

/** Whether a client says that it has an answer. */
const isHad = ({ etag }: Finished, ifNoneMatch: string | null): boolean =>
  etag !== undefined && isKnown(ifNoneMatch, etag);

/** What goes to a client; null for a large body, which is written as it is made. */
function contentFor(finished: Finished, ifNoneMatch: string | null): Content | null {
  const { status, headers, body } = finished;
  if (isHad(finished, ifNoneMatch)) return { status: 304, headers, body: NOTHING };
  if (!Buffer.isBuffer(body)) return null;
  return { status, headers: [...headers, 'content-length', String(body.byteLength)], body };
}

/** Writes an answer. @param own - headers that only this request's answer has, in turn with their values */
export function write(
  response: ServerResponse,
  finished: Finished,
  own: readonly string[],
  ifNoneMatch: string | null,
): Promise<void> | undefined {
  const content = contentFor(finished, ifNoneMatch);
  if (content === null) {
    const { status, headers, body } = finished;
    response.writeHead(status, [...headers, ...own]);
    return Buffer.isBuffer(body) ? undefined : writeBody(response, body);
  }
  const { status, headers, body } = content;
  response.writeHead(status, [...headers, ...own]);
  // Text goes to the connection together with the head, bytes as a second piece, which takes longer than all else that is done to write a small answer.
  if (body.length <= SMALL) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
  return undefined;
}
