// foldatlas lookup: hashes, accessions and entry names mixed; one output line per input, in order,
// also for those not found. Holds one chunk of the list in memory.
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableOf } from '../lookups/export-row.ts';
import { valuesAt } from '../upstream/renames.ts';
import { command, flag, word } from './command.ts';
import { type Answer, connect, errorLines, type GatewayTarget, TARGET_ARGS } from './gateway-client.ts';
import { CliExit, EXIT, messageOf, type Session } from './session.ts';

const PIECE = 200;

const QUERY = `query Lookup($ids: [String!]!) {
  lookup(ids: $ids) {
    requested
    status
    problem { message }
    protein {
      hash accession source name organism gene length ptm
      plddt { mean }
      cluster { representativeHash size percentCharacterized name }
    }
  }
}`;

interface Row {
  readonly requested: string;
  readonly status: string;
  readonly problem: string | null;
  readonly protein: unknown;
}

const cellAt = (path: string) => (row: Row) => {
  const [value] = valuesAt(row, path);
  return typeof value === 'string' || typeof value === 'number' ? value : null;
};
const OWN = ['hash', 'accession', 'source', 'name', 'organism', 'gene', 'length', 'ptm'];
const TABLE = tableOf<Row>({
  requested: cellAt('requested'),
  status: cellAt('status'),
  ...Object.fromEntries(OWN.map((name) => [name, cellAt(`protein.${name}`)])),
  mean_plddt: cellAt('protein.plddt.mean'),
  cluster_representative: cellAt('protein.cluster.representativeHash'),
  cluster_name: cellAt('protein.cluster.name'),
  cluster_size: cellAt('protein.cluster.size'),
  cluster_percent_characterized: cellAt('protein.cluster.percentCharacterized'),
  problem: cellAt('problem'),
});

/** Lines of a sequence, also where it has gaps, which the gateway refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;
/** The service's place of an identifier counts from the start of its chunk, not of the file. */
const PLACE = /^`ids\[\d+\]` \(\d+ characters\) /;

/** Reads identifiers between white space or commas, # comments, and FASTA, in chunks. */
async function* pieces(file: string): AsyncGenerator<string[]> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const ids: string[] = [];
  let record: string[] = [];
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = text.trim();
      if (line.includes('\0'))
        throw new CliExit(
          EXIT.data,
          'The list is no UTF-8 text, but UTF-16 or a spreadsheet. Save it as UTF-8.',
        );
      // Blank lines may stand anywhere in a record.
      if (record.length > 0 && (line === '' || RESIDUES.test(line))) {
        if (line !== '') record.push(line);
        continue;
      }
      if (record.length > 0) ids.push(record.join('\n'));
      record = line.startsWith('>') ? [line] : [];
      const words = record.length > 0 ? [] : line.replace(/#.*/, '').split(/[\s,;]+/);
      for (const word of words) if (word !== '') ids.push(word);
      while (ids.length >= PIECE) yield ids.splice(0, PIECE);
    }
  } catch (error) {
    throw input.errored === error ? new CliExit(EXIT.usage, messageOf(error)) : error;
  }
  if (record.length > 0) ids.push(record.join('\n'));
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
    const answer = await place.ask(QUERY, { ids });
    const { data, errors = [] } = answer;
    const isRefused = data == null && errors.every(({ extensions }) => extensions?.retryable === true);
    if (!isRefused || tries === MAX_TRIES) return answer;
    const asked = errors.map(({ extensions }) => Number(extensions?.retryAfterSeconds ?? PAUSE_SECONDS));
    const seconds = Math.min(Math.max(...asked), MAX_PAUSE_SECONDS);
    session.say(`${errorLines(answer)[0]} Going on in ${seconds} s.`);
    await sleep(seconds * 1000, undefined, { signal: session.signal });
  }
}

async function rowsOf(place: GatewayTarget, session: Session, ids: readonly string[]): Promise<Row[]> {
  const answer = await askPatiently(place, session, ids);
  const lines = errorLines(answer);
  for (const line of lines.slice(0, 3)) session.say(line);
  if (lines.length > 3) session.say(`… and ${lines.length - 3} more like these`);
  type Entry = Omit<Row, 'problem'> & { readonly problem: { readonly message: string } | null };
  const { lookup = null } = (answer.data ?? {}) as { lookup?: (Entry | null)[] | null };
  const failures = new Map(answer.errors?.map((error) => [error.path?.[1], error]));
  return ids.map((id, i): Row => {
    // Of a FASTA record its header.
    const requested = id.split('\n', 1)[0] ?? id;
    const { status = 'UNAVAILABLE', protein = null, problem = null } = lookup?.[i] ?? {};
    const failure = failures.get(i) ?? (lookup?.[i] == null ? answer.errors?.[0] : undefined);
    if (failure === undefined)
      return { requested, status, problem: problem?.message.replace(PLACE, 'It ') ?? null, protein };
    const reason = `${String(failure.extensions?.code ?? 'ERROR')}: ${failure.message}`;
    return { requested, status: 'UNAVAILABLE', problem: reason, protein };
  });
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
      if (table) await session.out(TABLE.header);
      for await (const ids of pieces(file)) {
        for (const row of await rowsOf(place, session, ids)) {
          if (row.status === 'FOUND') found += 1;
          if (row.status === 'UNAVAILABLE') lost += 1;
          await session.out(table ? TABLE.line(row) : `${JSON.stringify(row)}\n`);
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
