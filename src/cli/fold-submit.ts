// The submission of `foldatlas fold`: parses its input, which is FASTA, or a submission as GraphQL
// takes it (YAML or JSON), sends it, and reads the outcome. The gateway validates it.
import { createHash } from 'node:crypto';
import { plainText } from '../plain-text.ts';
import { isFields } from '../upstream/json/is-fields.ts';
import { errorLines, type GatewayTarget } from './gateway-client.ts';
import { parseYaml } from './parse-yaml.ts';
import { CliExit, EXIT, messageOf, type Session } from './session.ts';

type FoldInput = Readonly<Record<string, unknown>> & { readonly idempotencyKey: string };

const unreadable = (why: string): CliExit =>
  new CliExit(
    EXIT.data,
    `${why} A FASTA file, or YAML such as:\nitems:\n  - name: my protein\n    chains:\n` +
      '      - protein: { ids: [A], sequence: MQIFVKTLTGK }',
  );

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const chainId = (index: number): string =>
  `${index < 26 ? '' : (LETTERS[Math.floor(index / 26) - 1] ?? '')}${LETTERS[index % 26] ?? ''}`;

/** Linear also in a text of many stops. */
const FINAL_STOPS = /(?<!\*)\*+$/;

/**
 * FASTA: one item per record, colons between the chains of a complex. All chains are proteins. The
 * gateway refuses an empty chain and a stop inside one, which both stay: without them another complex
 * would be paid for.
 */
function readFasta(text: string): Record<string, unknown> {
  const items = text
    .split(/^>/m)
    .slice(1)
    .map((record) => {
      const end = record.search(/[\r\n]|$/);
      const name = record.slice(0, end).trim();
      const sequences = record.slice(end).replace(/\s/g, '').split(':');
      return {
        ...(name === '' ? {} : { name }),
        chains: sequences.map((sequence, index) => ({
          protein: { ids: [chainId(index)], sequence: sequence.replace(FINAL_STOPS, '') },
        })),
      };
    });
  return { items };
}

function readYaml(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (error) {
    throw unreadable(`The file is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`);
  }
  if (Array.isArray(value)) return { items: value };
  if (isFields(value) && 'items' in value) return value;
  throw unreadable('The file holds no items.');
}

/** A value as JSON with the keys of its objects in order: the same content is the same text. */
const orderedJson = (content: unknown): string =>
  JSON.stringify(content, (_, value: unknown) =>
    isFields(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

interface InputOptions {
  readonly label?: string | undefined;
  readonly repeat?: string | undefined;
  readonly model?: string | undefined;
  /** Asks for the aligned error of every item. */
  readonly pae?: boolean | undefined;
  /** A word that makes the same content a new, paid submission. */
  readonly again?: string | undefined;
}

function withOptions(
  content: Readonly<Record<string, unknown>> & { readonly items: readonly unknown[] },
  { label, repeat, model, pae }: InputOptions,
): Record<string, unknown> {
  if (repeat !== undefined && !/^[1-9]\d{0,3}$/.test(repeat))
    throw new CliExit(EXIT.usage, '--repeat must be a whole number from 1 to 2000.');
  const withPae = (item: unknown): unknown => (isFields(item) ? { ...item, includePae: true } : item);
  return {
    ...content,
    ...(label === undefined ? {} : { label }),
    ...(repeat === undefined ? {} : { repeat: Number(repeat) }),
    ...(model === undefined ? {} : { model }),
    ...(pae === true ? { items: content.items.map(withPae) } : {}),
  };
}

/** Parses a submission. Its key is a hash of its content: a second run pays nothing. */
export function readFoldInput(text: string, options: InputOptions): FoldInput {
  // A byte order mark counts as white space here.
  const plain = text.trimStart();
  const { idempotencyKey: own, items, ...rest } = plain.startsWith('>') ? readFasta(plain) : readYaml(text);
  if (!Array.isArray(items) || items.length === 0) throw unreadable('The file holds no items.');
  const content = withOptions({ ...rest, items: items as unknown[] }, options);
  const { again } = options;
  const hash = createHash('sha256')
    .update(orderedJson([content, again ?? '']))
    .digest('hex');
  return {
    ...content,
    idempotencyKey: typeof own === 'string' && again === undefined ? own : `cli-${hash.slice(0, 48)}`,
  };
}

const RESULT = `
    __typename
    ... on FoldSubmitted { replayed message warnings { path message } batch { batchId } }
    ... on Problem { problem: message hint }
    ... on InvalidInput { issues { path message hint } }
    ... on Refused { reason retryAfterSeconds }
    ... on IdempotencyConflict { existingBatch { batchId } }`;
const SUBMIT = `mutation Submit($input: SubmitFoldInput!) { result: submitFold(input: $input) {${RESULT} } }`;

interface Issue {
  readonly path: string;
  readonly message: string;
  readonly hint?: string | null;
}

interface Ended {
  readonly __typename: string;
  readonly replayed?: boolean;
  readonly warnings?: readonly Issue[];
  readonly batch?: { readonly batchId: string } | null;
  readonly existingBatch?: { readonly batchId: string } | null;
  readonly problem?: string;
  readonly hint?: string | null;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number | null;
}

/** Submits. @returns the batch's id @throws CliExit that tells every mistake */
export async function submitFold(place: GatewayTarget, session: Session, input: FoldInput): Promise<string> {
  const answer = await place.ask(SUBMIT, { input });
  const { result: ended } = (answer.data ?? {}) as { result?: Ended | null };
  if (ended === undefined || ended === null) {
    const lines = errorLines(answer);
    if (lines.some((line) => line.includes('cannot represent a non string value')))
      lines.push('Text that looks like a number is quoted, such as ccd: ["017"].');
    const mistake = answer.errors?.some(({ extensions }) => extensions?.code === 'BAD_USER_INPUT') === true;
    throw new CliExit(mistake ? EXIT.data : EXIT.unreachable, lines.join('\n'));
  }
  if (ended.__typename === 'FoldSubmitted' && ended.batch != null) {
    for (const { path, message } of ended.warnings ?? [])
      session.say(plainText(`warning: ${path}: ${message}`));
    if (ended.replayed === true) {
      session.say('Submitted before: the same batch, nothing is paid again (--again makes another one).');
    }
    return ended.batch.batchId;
  }
  const { __typename: kind, problem = '', issues = [], hint, retryAfterSeconds: wait, existingBatch } = ended;
  const lines = [
    `${kind}: ${problem}`,
    ...issues.map((one) => `  ${one.path}: ${one.message} ${one.hint ?? ''}`.trimEnd()),
    hint,
    kind === 'OutcomeUnknown' ? '--again WORD makes another key.' : null,
    wait == null ? null : `Try again in ${wait} seconds.`,
    existingBatch == null ? null : `The earlier batch is ${existingBatch.batchId}.`,
  ].flatMap((line) => (line == null ? [] : [plainText(line)]));
  throw new CliExit(kind === 'InvalidInput' ? EXIT.data : EXIT.unreachable, lines.join('\n'));
}
