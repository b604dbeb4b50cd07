// foldatlas query: runs one GraphQL document and prints JSON; for a subscription, one line per
// event.
import { getOperationAST, parse } from 'graphql';
import { isFields } from '../upstream/json/is-fields.ts';
import { command, option, word } from './command.ts';
import { type Answer, connect, sayErrors, TARGET_ARGS } from './gateway-client.ts';
import { parseYaml } from './parse-yaml.ts';
import { CliExit, EXIT, messageOf, readInput, type Session } from './session.ts';

async function variablesOf(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  const text = given.startsWith('@') ? await readInput(given.slice(1)) : given;
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (error) {
    throw new CliExit(EXIT.usage, `--variables: ${messageOf(error)}`);
  }
  if (isFields(value)) return value;
  throw new CliExit(EXIT.usage, '--variables: must be an object.');
}

function operationOf(document: string, name: string | undefined): string {
  let found: ReturnType<typeof getOperationAST>;
  try {
    found = getOperationAST(parse(document), name);
  } catch (error) {
    throw new CliExit(EXIT.data, `The document cannot be read: ${messageOf(error)}`);
  }
  if (found !== undefined && found !== null) return found.operation;
  throw new CliExit(
    EXIT.data,
    'The document has no such operation; with several, name one with --operation.',
  );
}

/** The events of a stream. @throws CliExit when the connection breaks */
async function* untilEnd(events: AsyncIterable<Answer>, session: Session): AsyncGenerator<Answer> {
  try {
    yield* events;
  } catch (error) {
    if (error instanceof CliExit || session.signal.aborted) throw error;
    throw new CliExit(EXIT.unreachable, `The stream broke off: ${messageOf(error)}`);
  }
}

export default command({
  name: 'query',
  summary: 'Runs a GraphQL document and writes its answer as JSON',
  args: {
    file: word(true, 'GraphQL document; - for standard input'),
    variables: option('JSON|@FILE', 'Variables as JSON or YAML, or @FILE'),
    operation: option('NAME', 'Which operation of the document'),
    ...TARGET_ARGS,
  },
  examples: [
    ['foldatlas query examples/01-accession-to-cluster.graphql', 'An example, over the embedded sandbox'],
    [
      `foldatlas query batch.graphql --variables '{"batchId":"…"}' --url http://127.0.0.1:4000/graphql`,
      'Ask a gateway that runs',
    ],
    [`echo '{ limits { maxTasks } }' | foldatlas query -`, 'From standard input'],
  ],
  exits: [
    [EXIT.ok, 'answered without errors'],
    [EXIT.notAllGood, 'the answer has errors; they are on standard error too'],
    [EXIT.unreachable, 'the gateway cannot be reached'],
    [EXIT.usage, 'the command line is wrong, or the file cannot be read'],
    [EXIT.data, 'the document is not GraphQL'],
  ],
  async run({ file, variables, operation, url, 'token-file': tokenFile }, session) {
    const document = await readInput(file);
    const values = await variablesOf(variables);
    const kind = operationOf(document, operation);
    const place = await connect(session, { url, tokenFile });
    try {
      const isStream = kind === 'subscription';
      const answers = isStream
        ? untilEnd(place.watch(document, values, operation), session)
        : [await place.ask(document, values, operation)];
      let failed = false;
      for await (const answer of answers) {
        await session.out(`${JSON.stringify(answer, null, isStream ? 0 : 2)}\n`);
        failed = sayErrors(session, answer) > 0 || failed;
      }
      return failed ? EXIT.notAllGood : EXIT.ok;
    } finally {
      await place.close();
    }
  },
});
