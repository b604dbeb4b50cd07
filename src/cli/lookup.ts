// foldatlas lookup: hashes, accessions and entry names mixed; one output line per input, in order,
// also for those not found. Holds one chunk of the list in memory.
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createIdentifierReader } from '../lookups/identifier-list.ts';
import {
  type LookupRow,
  lookupQuery,
  PROTEIN_COLUMNS,
  readRows,
  tableHeader,
  tableLine,
} from '../lookups/protein-columns.ts';
import { command, flag, word } from './command.ts';
import { type Answer, connect, errorLines, type GatewayTarget, TARGET_ARGS } from './gateway-client.ts';
import { CliExit, EXIT, messageOf, type Session } from './session.ts';

const PIECE = 200;

/** All columns but the long ones and those that a file has. */
const LEFT_OUT: readonly string[] = ['sequence', 'structure_url', 'features', 'feature_labels'];
const COLUMNS = PROTEIN_COLUMNS.filter(({ name }) => !LEFT_OUT.includes(name));

/** Reads identifiers in chunks. */
async function* pieces(file: string): AsyncGenerator<string[]> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const reader = createIdentifierReader();
  const ids: string[] = [];
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.includes('\0'))
        throw new CliExit(
          EXIT.data,
          'The list is no UTF-8 text, but UTF-16 or a spreadsheet. Save it as UTF-8.',
        );
      for (const id of reader.read(line)) if (ids.push(id) === PIECE) yield ids.splice(0);
    }
  } catch (error) {
    throw input.errored === error ? new CliExit(EXIT.usage, messageOf(error)) : error;
  }
  ids.push(...reader.end());
  if (ids.length > 0) yield ids;
}

/** @throws CliExit */
function failRead(error: unknown): never {
  const hint = 'Identifiers themselves go to standard input: echo P01308 | foldatlas lookup -';
  throw new CliExit(EXIT.usage, `${messageOf(error)}\n${hint}`);
}

/** How often a part of the list is asked for while the gateway or the service refuses all of it for now. */
const MAX_TRIES = 5;
/** Where the refusal does not say how long to wait, and at most. */
const PAUSE_SECONDS = 5;
const MAX_PAUSE_SECONDS = 60;

/** Asks again, after the pause that the errors ask for, where nothing was answered and that may change. */
async function askPatiently(place: GatewayTarget, session: Session, ids: readonly string[]): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await place.ask(lookupQuery(COLUMNS), { ids });
    const { data, errors = [] } = answer;
    const isUnanswered = Object.values(data ?? {}).every((field) => field === null);
    const isRefused = isUnanswered && errors.every(({ extensions }) => extensions?.retryable === true);
    if (!isRefused || tries === MAX_TRIES) return answer;
    const asked = errors.map(({ extensions }) => Number(extensions?.retryAfterSeconds ?? PAUSE_SECONDS));
    const seconds = Math.min(Math.max(...asked), MAX_PAUSE_SECONDS);
    session.say(`${errorLines(answer)[0]} Going on in ${seconds} s.`);
    await sleep(seconds * 1000, undefined, { signal: session.signal });
  }
}

async function lookUpRows(
  place: GatewayTarget,
  session: Session,
  ids: readonly string[],
): Promise<LookupRow[]> {
  const answer = await askPatiently(place, session, ids);
  const lines = errorLines(answer);
  for (const line of lines.slice(0, 3)) session.say(line);
  if (lines.length > 3) session.say(`… and ${lines.length - 3} more like these`);
  return readRows(ids, answer);
}

export default command({
  name: 'lookup',
  summary: 'Looks up proteins by hash, UniProt accession or entry name, in the order given, gaps shown',
  args: {
    file: word(true, 'Identifiers, separated by white space or commas, or FASTA; - for standard input'),
    tsv: flag('A table, tabs between columns (the default)'),
    ndjson: flag('One JSON object a line'),
    ...TARGET_ARGS,
  },
  examples: [
    ['foldatlas lookup ids.txt > proteins.tsv', 'A line for each identifier, in order'],
    ['echo P01308 ACTA_HUMAN | foldatlas lookup - --ndjson', 'From standard input, as JSON lines'],
    ['foldatlas lookup ids.txt | cut -f1-4 | head', 'A reader that has enough ends it'],
  ],
  exits: [
    [EXIT.ok, 'every identifier was answered, found or not'],
    [EXIT.notAllGood, 'some could not be looked up (status UNAVAILABLE)'],
    [EXIT.unreachable, 'the gateway cannot be reached'],
    [EXIT.usage, 'the command line is wrong, or the file cannot be read'],
    [EXIT.data, 'the file is no UTF-8 text'],
  ],
  async run({ file, tsv, ndjson, url, 'token-file': tokenFile }, session) {
    if (tsv === true && ndjson === true) throw new CliExit(EXIT.usage, 'Choose one of --tsv and --ndjson.');
    if (file !== '-') await access(file).catch(failRead);
    const place = await connect(session, { url, tokenFile });
    const table = ndjson !== true;
    let [done, found, lost] = [0, 0, 0];
    try {
      if (table) await session.out(tableHeader(COLUMNS));
      for await (const ids of pieces(file)) {
        for (const row of await lookUpRows(place, session, ids)) {
          if (row.status === 'FOUND') found += 1;
          if (row.status === 'UNAVAILABLE') lost += 1;
          await session.out(table ? tableLine(COLUMNS, row) : `${JSON.stringify(row)}\n`);
        }
        done += ids.length;
        session.live(`${done} looked up, ${found} found`);
      }
      session.say(
        `${done} looked up: ${found} found, ${done - found - lost} not found, ${lost} unavailable.`,
      );
      return lost > 0 ? EXIT.notAllGood : EXIT.ok;
    } finally {
      await place.close();
    }
  },
});
