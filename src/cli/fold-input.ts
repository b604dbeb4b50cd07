// Parses the input file of `foldatlas fold`: a submission as GraphQL takes it (YAML or JSON), or
// FASTA. The gateway validates the submission.
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { isFields } from '../upstream/renames.ts';
import { CliExit, EXIT, messageOf } from './session.ts';

export type FoldInput = Readonly<Record<string, unknown>> & { readonly idempotencyKey: string };

const unreadable = (why: string): CliExit =>
  new CliExit(
    EXIT.data,
    `${why} A FASTA file, or YAML such as:\nitems:\n  - name: my protein\n    chains:\n` +
      '      - protein: { ids: [A], sequence: MQIFVKTLTGK }',
  );

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const chainId = (index: number): string =>
  `${index < 26 ? '' : (LETTERS[Math.floor(index / 26) - 1] ?? '')}${LETTERS[index % 26] ?? ''}`;

/** FASTA: one item per record, colons between the chains of a complex. All chains are proteins. */
function readFasta(text: string): Record<string, unknown> {
  const items = text
    .split(/^>/m)
    .slice(1)
    .map((record) => {
      const end = record.search(/\r?\n|$/);
      const name = record.slice(0, end).trim();
      const sequences = record
        .slice(end)
        .replace(/[\s*]/g, '')
        .split(':')
        .filter((sequence) => sequence !== '');
      return {
        ...(name === '' ? {} : { name }),
        chains: sequences.map((sequence, index) => ({ protein: { ids: [chainId(index)], sequence } })),
      };
    });
  return { items };
}

function readYaml(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text);
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

/** What options of the command line say, in place of the file. */
export interface InputOptions {
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

/**
 * Parses a submission. Its idempotency key is a hash of its content, so that a second run pays
 * nothing.
 */
export function readFoldInput(text: string, options: InputOptions): FoldInput {
  const { idempotencyKey: own, items, ...rest } = /^\s*>/.test(text) ? readFasta(text) : readYaml(text);
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
