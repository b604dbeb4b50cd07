// The limits of every HTTP request, before the cache and Yoga: authentication, rate limit, body
// size and time, and a slot among the running requests. A slot is taken when the request is
// complete and released when its response is, however long the client takes to read it. Refusals
// are answered by Yoga's plugins, with all headers.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { createPrivateField } from '../../private-field.ts';
import type { AccessControl } from '../access-control.ts';
import { bodyTooLarge, bodyTooSlow, overloaded } from '../auth/auth-errors.ts';
import type { PendingResponse } from '../response-cache.ts';
import type { AdmittedClient } from './admission.ts';
import { isAwaitingContinue, sendContinue } from './http-server.ts';
import type { BodyFailure } from './request-bodies.ts';

/** Why a request is refused before it runs, as metrics name it. */
export type RefusalReason =
  | 'busy'
  | 'rate'
  | 'connections'
  | 'unfinished_bodies'
  | 'buffered_bytes'
  | 'slow_body';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly error: GraphQLError;
}

/** What is known of a request that came over a connection. */
export interface LimitedRequest {
  readonly arrival: AdmittedClient;
  /**
   * The body of a POST; an error when there is none to work with, undefined when it was not read.
   */
  readonly body: Buffer | GraphQLError | undefined;
  /** Why it is not to be worked on; undefined when it is. */
  readonly refusal: Refusal | undefined;
  /** Gives the place back early, once or more often. */
  readonly leave: () => void;
  /** Set by the response cache for an answer that others may wait for. */
  pending?: PendingResponse;
}

/** Monitoring is always answered. */
export const EXEMPT_PATHS: readonly string[] = ['/health', '/ready', '/metrics'];

export interface RequestLimits
  extends Pick<AccessControl, 'admission' | 'pressure' | 'bodies' | 'connections' | 'slowReaders' | 'turns'> {
  /** Whether callers must send credentials: without valid ones, no body is read. */
  readonly proofNeeded: boolean;
  /** Bytes of a body at most, for the message. */
  readonly maxBodyBytes: number;
  /** Called with an internal error; answers the request. */
  readonly onFault: (error: unknown, res: ServerResponse) => void;
}

/** How long a client whose request was not read to its end has to read the answer. */
const LINGER_MS = 5_000;

const limited = createPrivateField<IncomingMessage, LimitedRequest>();

/** What the limits have said of a request; undefined for one that never met them. */
export const limitedRequestOf = (incoming: IncomingMessage | undefined): LimitedRequest | undefined =>
  incoming === undefined ? undefined : limited.get(incoming);

type Response = ServerResponse & { req: IncomingMessage };

/** The path of a request, without its search. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';
const keepsNoPlace = (): void => undefined;

/** What a body that cannot be worked with is answered with. */
function answerTo(failure: BodyFailure, maxBodyBytes: number): Pick<LimitedRequest, 'body' | 'refusal'> {
  if (failure === 'too_large') return { body: bodyTooLarge(maxBodyBytes), refusal: undefined };
  const refusals: Record<typeof failure, Refusal> = {
    too_slow: { reason: 'slow_body', error: bodyTooSlow() },
    too_many: { reason: 'unfinished_bodies', error: overloaded() },
    no_memory: { reason: 'buffered_bytes', error: overloaded() },
  };
  return { body: undefined, refusal: refusals[failure] };
}

/** The same listener behind the limits. */
export function limitRequests(listener: RequestListener, limits: RequestLimits): RequestListener {
  const { admission, pressure, bodies, connections, slowReaders, turns, proofNeeded, maxBodyBytes, onFault } =
    limits;

  function pass(req: IncomingMessage, res: Response, met: LimitedRequest): void {
    limited.set(req, met);
    if (!req.complete) {
      const cut = () => setTimeout(() => req.complete || req.socket.destroy(), LINGER_MS).unref();
      res.once('finish', cut);
      bodies.discard(req, met.arrival.address);
      // The client may now omit the body; the next bytes could then not be told from one.
      if (isAwaitingContinue(req)) res.setHeader('connection', 'close');
    }
    turns.begin(met.arrival.address, () => {
      if (!res.closed) listener(req, res);
    });
  }

  function passComplete(
    req: IncomingMessage,
    res: Response,
    arrival: AdmittedClient,
    body: Buffer | undefined,
  ): void {
    const leave = pressure.enter(arrival.address);
    const refusal: Refusal | undefined = leave === null ? { reason: 'busy', error: overloaded() } : undefined;
    // The first when the answer is complete, the other when it never is.
    if (leave !== null) res.once('prefinish', leave).once('close', leave);
    pass(req, res, { arrival, body, refusal, leave: leave ?? keepsNoPlace });
  }

  function arrived(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    if (res.closed) return;
    slowReaders.watch(req.socket, arrival.address);
    const isRefused = arrival.verdict?.allowed === false || (proofNeeded && arrival.caller === null);
    if (!connections.isWithin(req.socket)) refuseConnection(req, res, arrival);
    else if (req.method !== 'POST') passComplete(req, res, arrival, undefined);
    else if (isRefused) pass(req, res, { arrival, body: undefined, refusal: undefined, leave: keepsNoPlace });
    else read(req, res, arrival);
  }

  /** Refuses a request over a connection beyond the limit, and closes the connection. */
  function refuseConnection(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    res.setHeader('connection', 'close');
    const refusal: Refusal = { reason: 'connections', error: overloaded() };
    pass(req, res, { arrival, body: undefined, refusal, leave: keepsNoPlace });
  }

  function read(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    let isRead = false;
    const release = bodies.read(req, arrival.address, (body) => {
      isRead = true;
      if (res.closed) return;
      if (Buffer.isBuffer(body)) passComplete(req, res, arrival, body);
      else pass(req, res, { arrival, ...answerTo(body, maxBodyBytes), leave: keepsNoPlace });
    });
    res.once('close', release);
    if (!isRead) sendContinue(req, res);
  }

  return (req, res) => {
    if (EXEMPT_PATHS.includes(pathOf(req))) return listener(req, res);
    const arriving = admission.admit(req);
    if ('then' in arriving)
      arriving.then((arrival) => arrived(req, res, arrival)).catch((error) => onFault(error, res));
    else arrived(req, res, arriving);
  };
}
