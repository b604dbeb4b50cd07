// The shortest way: a request that came before, byte for byte, and whose answer is kept, is answered from its connection without being
// read again. Programs ask the same over and over, and reading HTTP costs more than all else that is done for them. Nothing is decided
// here: node:http read the same bytes before, the short way answered them, and who asks is counted, logged and told all the same.
// Everything else goes to node:http, which the connection still belongs to.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { OperationSeen } from '../operations/exchange.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { openRecent } from '../store/recent.ts';
import { type Content, contentFor, type Finished, isHad } from './finished.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { announcedLength } from './read-body.ts';
import { openSecondSight } from './second-sight.ts';
import { type Asking, headerOf, type Visits } from './visit.ts';

export interface RepeatsOptions {
  readonly kept: KeptAnswers<Finished>;
  readonly visits: Pick<Visits, 'comeAtOnce' | 'ownHeaders'>;
  readonly telemetry: Pick<Telemetry, 'ran'>;
}

export interface Repeats {
  /**
   * Says which kept answer a request was given.
   *
   * @param operation - what it asked for, where that was a query
   */
  note(req: IncomingMessage, key: string, given: Finished, operation: OperationSeen | undefined): void;
  /** Looks at all that comes to a server. */
  watch(server: Server): void;
}

/** Bytes of a request that is remembered, and of an answer that is given here. */
const MOST_ASKED = 2_048;
const MOST_GIVEN = 65_536;
/** Bytes of all requests that are remembered, and what each takes beside its bytes, about. */
const MOST_REMEMBERED = 4_000_000;
const OVERHEAD = 2_048;
/** Milliseconds. Answers are kept for a shorter time; they are looked up anew. */
const REMEMBERED_MS = 600_000;
/** Headers that say something of one request alone, or are nobody's business a minute later. */
const NEVER = ['authorization', 'cookie', 'x-request-id', 'traceparent'] as const;

const HEAD_END = '\r\n\r\n';
const NO_HEAD = Buffer.alloc(0);

/** A request that was answered before. */
interface Repeat extends Pick<Asking, 'method' | 'url' | 'headers'> {
  readonly key: string;
  readonly operation: OperationSeen | undefined;
  /** The answer that was given last, and how it begins on the connection, up to what only one answer has. */
  finished: Finished | undefined;
  content: Content | undefined;
  head: Buffer;
}

/** What is known of a connection. */
interface Line {
  /** Whether node:http has read a request here: until then it waits for the first, and only so long. */
  isKnown: boolean;
  /** The first bytes of the request that node:http reads or answers; undefined between two requests. */
  first: Buffer | undefined;
  /** Up to the end of its head, as far as it lies in them. */
  headBytes: number;
  /** All that came since. */
  bytes: number;
  repeat: Repeat | undefined;
}

/** Headers by which a connection does not go on as usual. */
const isUsual = (headers: IncomingMessage['headers']): boolean =>
  NEVER.every((name) => headers[name] === undefined) &&
  (headers.connection === undefined || headers.connection.toLowerCase() === 'keep-alive');

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Header lines of names and values in turn. */
function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** Whether what a client is given of an answer may be copied. */
const isSmall = (given: Finished, asking: Pick<Asking, 'headers'>): boolean =>
  given.body.byteLength <= MOST_GIVEN || isHad(given, headerOf(asking, 'if-none-match'));

/** How an answer begins, and what follows; nothing for one that is too large to be copied. */
function prepare(repeat: Repeat, found: Finished, asking: Asking): void {
  const content = contentFor(found, headerOf(asking, 'if-none-match'));
  repeat.finished = found;
  repeat.content = content === null || content.body.length > MOST_GIVEN ? undefined : content;
  if (content === null) return;
  const { status, headers } = content;
  repeat.head = Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${linesOf(headers)}`, 'latin1');
}

/** The time as answers state it, made once a second. */
function openDate(): () => string {
  let second = 0;
  let text = '';
  return () => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) text = new Date(now * 1000).toUTCString();
    second = now;
    return text;
  };
}

/** Opens the way. */
export function openRepeats({ kept, visits, telemetry }: RepeatsOptions): Repeats {
  const lines = new WeakMap<Socket, Line>();
  const isAskedAgain = openSecondSight();
  const remembered = openRecent<Repeat>({
    maxBytes: MOST_REMEMBERED,
    largestShare: 1,
    sizeOf: () => OVERHEAD,
    now: () => performance.now(),
  });
  const date = openDate();

  /** Answers what a connection brought, if it is known. @returns whether it was */
  function answer(socket: Socket, chunk: Buffer, keepAlive: string): boolean {
    if (chunk.length > MOST_ASKED || socket.writableLength > 0 || !socket.writable) return false;
    const repeat = remembered.get(chunk.toString('latin1'));
    const found = repeat === undefined ? undefined : kept.get(repeat.key);
    if (repeat === undefined || found === undefined) return false;
    const { method, url, headers, operation } = repeat;
    const asking = { method, url, headers, socket };
    if (repeat.finished !== found) prepare(repeat, found, asking);
    const { content, head: shared } = repeat;
    const visit = content === undefined ? null : visits.comeAtOnce(asking);
    if (content === undefined || visit === null) return false;
    if (operation !== undefined) telemetry.ran(visit.exchange, operation);
    const own = linesOf(visits.ownHeaders(visit, found.isPublic));
    const tail = `${own}Date: ${date()}\r\n${keepAlive}\r\n`;
    const { status, body } = content;
    const bytes = Buffer.allocUnsafe(shared.length + tail.length + body.length);
    bytes.set(shared);
    bytes.write(tail, shared.length, 'latin1');
    bytes.set(body, shared.length + tail.length);
    socket.write(bytes, (error) => visit.end({ status, bytes: bytes.length, left: error != null }));
    return true;
  }

  /** What a request was is remembered when the same bytes come a second time. */
  function remember({ first, headBytes, bytes, repeat }: Line): void {
    if (repeat === undefined || first?.length !== bytes || bytes > MOST_ASKED) return;
    if (!isUsual(repeat.headers) || headBytes < HEAD_END.length) return;
    const text = first.toString('latin1');
    if (isAskedAgain(text)) remembered.set(text, repeat, REMEMBERED_MS);
  }

  /** A request has been answered: whether what comes next begins another, node:http alone knows when more has come than this one. */
  function answered(line: Line, req: IncomingMessage, res: ServerResponse): void {
    const length = req.method === 'GET' && !hasBody(req) ? 0 : announcedLength(req);
    if (!res.writableFinished || !req.complete || length === undefined) return;
    if (line.bytes !== line.headBytes + length) return;
    remember(line);
    line.isKnown = true;
    line.first = undefined;
    line.repeat = undefined;
  }

  function watchConnection(socket: Socket, keepAlive: string): void {
    const [read, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[];
    if (read === undefined || others.length > 0) return;
    const line: Line = { isKnown: false, first: undefined, headBytes: 0, bytes: 0, repeat: undefined };
    const look = (chunk: Buffer): void => {
      // It has become a WebSocket.
      if (socket.listenerCount('data') > 1) return void socket.off('data', look);
      if (line.first === undefined) {
        if (line.isKnown && answer(socket, chunk, keepAlive)) return;
        line.first = chunk;
        line.headBytes = chunk.indexOf(HEAD_END) + HEAD_END.length;
        line.bytes = 0;
      }
      line.bytes += chunk.length;
      read.call(socket, chunk);
    };
    lines.set(socket, line);
    socket.off('data', read);
    socket.on('data', look);
  }

  return {
    note(req, key, given, operation) {
      const line = lines.get(req.socket);
      if (line === undefined || !isSmall(given, req)) return;
      const { method, url, headers } = req;
      line.repeat = {
        method,
        url,
        headers,
        key,
        operation,
        finished: undefined,
        content: undefined,
        head: NO_HEAD,
      };
    },
    watch(server) {
      const seconds = Math.floor(server.keepAliveTimeout / 1000);
      const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
      server.on('connection', (socket: Socket) => watchConnection(socket, keepAlive));
      server.on('request', (req, res) => {
        const line = lines.get(req.socket);
        if (line !== undefined) res.on('close', () => answered(line, req, res));
      });
    },
  };
}
