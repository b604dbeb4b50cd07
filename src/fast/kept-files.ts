// The short way of public pictures that were answered before: kept as bytes when the long way has answered one, given again from memory.
// It must not know what a picture shows.
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import { incomingOf } from '../callers/connection.ts';
import { breakOff } from '../plugins/guard.ts';
import { answerKey } from './answer-key.ts';
import { type Finished, write } from './finished.ts';
import type { KeptAnswers } from './kept-answers.ts';
import type { Repeats } from './repeats.ts';
import { headerOf, type Visit, type Visits } from './visit.ts';

const PATH = '/thumbnails/';
/** Seconds that a picture is given from memory; it never changes, but its protein may go. */
const KEPT_SECONDS = 600;
/** Headers that belong to one answer. */
const OWN = /^(x-request-id|traceresponse|content-length|date|ratelimit-.*|access-control-.*)$/;

const isPicture = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url?.startsWith(PATH) === true && headers.range === undefined;

/** Keeps public pictures that the long way answers over a connection. It must come after all who set headers. */
export const useKeptFiles = (kept: KeptAnswers<Finished>): Plugin => ({
  async onResponse({ response, setResponse, serverContext, fetchAPI }) {
    const incoming = incomingOf(serverContext);
    const { status, headers } = response;
    if (incoming === undefined || status !== 200 || !isPicture(incoming)) return;
    if (headers.get('cache-control')?.startsWith('public') !== true) return;
    const body = Buffer.from(await response.arrayBuffer());
    const shared = [...headers].filter(([name]) => !OWN.test(name)).flat();
    const etag = headers.get('etag') ?? undefined;
    kept.set(
      answerKey(incoming),
      { status, headers: shared, body, etag, isPublic: true, seconds: KEPT_SECONDS, name: null },
      KEPT_SECONDS,
    );
    setResponse(new fetchAPI.Response(body, { status, headers }));
  },
});

export interface KeptFilesOptions {
  readonly kept: KeptAnswers<Finished>;
  readonly visits: Visits;
  readonly repeats: Pick<Repeats, 'note'>;
  /** Told of what is wrong with the gateway itself. */
  readonly onFault: (error: unknown) => void;
}

/** Opens the short way in front of the long one. */
export function keptFiles(
  listener: RequestListener,
  { kept, visits, repeats, onFault }: KeptFilesOptions,
): RequestListener {
  return (req, res) => {
    const key = isPicture(req) ? answerKey(req) : undefined;
    const found = key === undefined ? undefined : kept.get(key);
    const entered = found === undefined ? null : visits.enter(req, res);
    if (key === undefined || found === undefined || entered === null) return listener(req, res);
    const give = (visit: Visit | null): void => {
      if (visit === null) {
        entered.leave();
        if (!res.closed) listener(req, res);
        return;
      }
      repeats.note(req, key, found, undefined);
      write(res, found, visits.ownHeaders(visit, true), headerOf(req, 'if-none-match'));
    };
    const fail = (error: unknown): void => {
      onFault(error);
      breakOff(res);
    };
    try {
      const coming = visits.come(entered);
      if (coming !== null && 'then' in coming) coming.then(give).catch(fail);
      else give(coming);
    } catch (error) {
      fail(error);
    }
  };
}
