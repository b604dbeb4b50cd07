// The gateway that a command queries: one by URL, the one that runs in this folder, or one within
// this process.
import type { Config } from '../config.ts';
import { plainText } from '../plain-text.ts';
import { startEmbeddedSandbox } from '../process/embedded-sandbox.ts';
import { option, TOKEN_FILE } from './command.ts';
import { CliExit, configOf, EXIT, messageOf, type Session, tokenOf } from './session.ts';

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlError[];
}

export type GatewayTarget = Awaited<ReturnType<typeof connect>>;

export const TARGET_ARGS = {
  url: option(
    'URL',
    'Gateway to ask, such as http://127.0.0.1:4000/graphql; else FOLDATLAS_URL; else the one that ' +
      'runs in this folder; else one in this process',
  ),
  'token-file': TOKEN_FILE,
};

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

interface OpenedGateway {
  readonly send: Fetch;
  /** Whether the gateway answers from a sandbox, where any token does. */
  readonly sandbox: boolean;
  close(): Promise<void>;
}

function remote(given: string, sandbox = false): OpenedGateway {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new CliExit(EXIT.usage, `--url: ${given} is not an http(s) address.`);
  const base = given.replace(/(?<!\/)\/+$/, '').replace(/\/graphql$/, '');
  return { sandbox, send: (path, init) => fetch(`${base}${path}`, init), close: async () => undefined };
}

/** What cannot be opened cannot be reached, unless the configuration is wrong. */
function openingError(error: unknown, tell: (message: string) => string = String): unknown {
  if (error instanceof Error && error.name === 'ConfigError') return error;
  return new CliExit(EXIT.unreachable, tell(messageOf(error)));
}

const sandboxFailed = (message: string): string =>
  `The sandbox cannot start: ${message}\n` +
  'If a gateway runs over it, ask that one: --url http://127.0.0.1:4000/graphql or FOLDATLAS_URL.';

/** A gateway of its own, without a port; over the sandbox where no upstream is set. */
async function embedded(session: Session, config: Config): Promise<OpenedGateway> {
  // Imported only here, because a remote gateway needs none of it.
  const [{ createGateway }, { createLogger }, { awaitStore }] = await Promise.all([
    import('../gateway.ts'),
    import('../telemetry/log.ts'),
    import('../process/await-store.ts'),
  ]);
  const log = createLogger(config.LOG_LEVEL, false);
  const onProgress = (line: string) => session.live(line);
  const sandbox =
    config.UPSTREAM_URL === undefined
      ? await startEmbeddedSandbox(config, { port: 0, onProgress }).catch((error: unknown) => {
          throw openingError(error, sandboxFailed);
        })
      : undefined;
  if (sandbox !== undefined)
    session.say(
      'Asking the embedded SANDBOX: its folds are geometry, not predictions. ' +
        'Set UPSTREAM_URL or --url for anything else.',
    );
  const gateway = createGateway({
    config,
    upstreamUrl: config.UPSTREAM_URL ?? sandbox?.url ?? '',
    log,
    sandbox: sandbox !== undefined,
  });
  await awaitStore(config, log, gateway.checkLedger, 0).catch(async (error: unknown) => {
    await gateway.close();
    await sandbox?.close();
    throw openingError(error);
  });
  return {
    sandbox: sandbox !== undefined,
    send: (path, init) => gateway.fetch(new Request(`http://foldatlas.localhost${path}`, init)),
    async close() {
      gateway.drain();
      await gateway.close();
      await sandbox?.close();
    },
  };
}

/** The gateway that runs in this folder, else one of its own. */
async function openLocal(session: Session): Promise<OpenedGateway> {
  const config = await configOf(session, { LOG_LEVEL: 'error' });
  const { findRunningGateway } = await import('../process/running-gateway.ts');
  const running = await findRunningGateway(config);
  if (running === undefined) return embedded(session, config);
  const over = running.sandbox ? ', over the SANDBOX: its folds are geometry, not predictions' : '';
  session.say(`Asking the gateway that runs here, ${running.url}/graphql${over}.`);
  return remote(running.url, running.sandbox);
}

async function* eventsOf(response: Response): AsyncGenerator<Answer> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: (.+)$/m.exec(block)?.[1];
      if (/^event: next$/m.test(block) && data !== undefined) yield JSON.parse(data) as Answer;
    }
  }
}

/** @throws CliExit when it is no answer of GraphQL, such as a page of a proxy */
async function readAnswer(response: Response): Promise<Answer> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null && ('data' in body || 'errors' in body))
    return body as Answer;
  throw new CliExit(EXIT.unreachable, `The gateway answered HTTP ${response.status}, and no GraphQL.`);
}

export async function connect(
  session: Session,
  args: { readonly url?: string | undefined; readonly tokenFile?: string | undefined },
) {
  const token = tokenOf(session, args.tokenFile);
  const given = args.url ?? session.env.FOLDATLAS_URL;
  const target = given === undefined || given === '' ? await openLocal(session) : remote(given);
  const bearer = token ?? (target.sandbox ? 'sandbox' : undefined);
  const headers = {
    'content-type': 'application/json',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
  const reach: Fetch = async (path, init) => {
    try {
      return await target.send(path, { ...init, signal: session.signal });
    } catch (error) {
      if (session.signal.aborted) throw error;
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CliExit(EXIT.unreachable, `${given ?? 'The gateway'} cannot be reached: ${cause}`);
    }
  };
  const post = (accept: string, body: unknown) =>
    reach('/graphql', { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(body) });
  return {
    /** Runs a query or mutation. @throws CliExit when there is no answer of GraphQL */
    async ask(
      query: string,
      variables?: Readonly<Record<string, unknown>>,
      operationName?: string,
    ): Promise<Answer> {
      const response = await post('application/graphql-response+json, application/json', {
        query,
        variables,
        operationName,
      });
      return readAnswer(response);
    },
    /** Runs a subscription and gives each event. Ends when the stream does, for whatever reason. */
    async *watch(
      query: string,
      variables?: Readonly<Record<string, unknown>>,
      operationName?: string,
    ): AsyncGenerator<Answer> {
      const response = await post('text/event-stream', { query, variables, operationName });
      if (response.headers.get('content-type')?.startsWith('text/event-stream') === true)
        yield* eventsOf(response);
      else yield await readAnswer(response);
    },
    /** Fetches a file. @param path - such as /tasks/{id}/result.json */
    file: (path: string) => reach(path, { headers }),
    close: () => target.close(),
  };
}

/** Errors of an answer, a line each. */
export const errorLines = ({ errors = [] }: Answer): string[] =>
  errors.map(({ message, path, extensions }) => {
    const where = path === undefined ? '' : ` at ${path.join('.')}`;
    return plainText(`${String(extensions?.code ?? 'ERROR')}${where}: ${message}`);
  });

/** Says the errors of an answer. @returns how many there are */
export function sayErrors(session: Session, answer: Answer): number {
  const lines = errorLines(answer);
  for (const line of lines) session.say(line);
  return lines.length;
}
