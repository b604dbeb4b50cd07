// Checks a whole submission before anything is sent: all rules of the spec, with paths in the
// GraphQL input, in linear time.
import { hash } from 'node:crypto';
import { checkChains } from './check-chains.ts';
import { checkReferences } from './check-references.ts';
import type { IssueCode } from './issue-codes.ts';
import { type Chain, copiesOf, type Item, type Submission } from './submission.ts';
import { createTwinSearch } from './wire-body.ts';

export interface Issue {
  /** Path in the GraphQL input, dotted. */
  readonly path: string;
  readonly code: IssueCode;
  readonly message: string;
  readonly hint: string | null;
}

export type AddIssue = (path: string, code: IssueCode, message: string, hint?: string) => void;

/** Collects the findings of one item; paths are relative to the item. */
export interface ItemNotes {
  /** Mistakes that the service would refuse. */
  readonly wrong: AddIssue;
  /** What it accepts and is probably not intended. */
  readonly odd: AddIssue;
}

/** Largest number of entries in one list: an input of 16 MiB can have a million mistakes. */
export const MAX_NOTES = 1000;

const MORE: Issue = {
  path: '',
  code: 'MORE',
  message: `There are more than ${MAX_NOTES}.`,
  hint: 'Mend these first.',
};

/** Creates the function that adds to a list; `prefix` stands before every path. */
const addIssue =
  (list: Issue[], prefix = ''): AddIssue =>
  (path, code, message, hint) => {
    if (list.length > MAX_NOTES) return;
    list.push(
      list.length === MAX_NOTES
        ? MORE
        : {
            path: prefix === '' || path === '' ? prefix + path : `${prefix}.${path}`,
            code,
            message,
            hint: hint ?? null,
          },
    );
  };

export type ChainKind = 'PROTEIN' | 'RNA' | 'DNA' | 'LIGAND';

/** A submitted chain without its sequence. */
export interface ChainSummary {
  /** One for each copy; empty when the upstream names the chain. */
  readonly ids: readonly string[];
  readonly kind: ChainKind;
  /** Residues or nucleotides of one copy; 0 for a ligand. */
  readonly length: number;
  /** MD5 of a protein's sequence, its id in the Atlas; null for the other kinds. */
  readonly proteinHash: string | null;
}

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

function summarizeChain(chain: Chain): ChainSummary {
  const ids = chain.ids ?? [];
  const kind = KINDS[chain.type];
  if (chain.type === 'ligand') return { ids, kind, length: 0, proteinHash: null };
  const { sequence } = chain;
  const proteinHash = chain.type === 'protein' ? hash('md5', sequence) : null;
  return { ids, kind, length: sequence.length, proteinHash };
}

export interface ItemMeasure {
  /** Chains, every copy counted. */
  readonly chainCount: number;
  /** Residues and nucleotides, every copy counted. */
  readonly length: number;
  /** Ligands, every copy counted. */
  readonly ligandCount: number;
  readonly chains: readonly ChainSummary[];
}

function measureItem(item: Item): ItemMeasure {
  let chainCount = 0;
  let length = 0;
  let ligandCount = 0;
  const chains: ChainSummary[] = [];
  for (const chain of item.chains) {
    const copies = copiesOf(chain);
    chainCount += copies;
    if (chain.type === 'ligand') ligandCount += copies;
    else length += copies * chain.sequence.length;
    chains.push(summarizeChain(chain));
  }
  return { chainCount, length, ligandCount, chains };
}

/** Limits of a submission (spec, section Limits). */
export const MAX_ITEMS = 2000;
export const MAX_TASKS = 2000;

/** Largest length of names and labels, in characters. */
const MAX_NAME = 200;
/** Residues and nucleotides of one item above which a fold may not fit the service's machines. */
const LONG_ITEM = 4000;
/** Residues and nucleotides of a submission above which a mistake is likely. */
const LONG_TOTAL = 1_000_000;
/** Length of an item above which its PAE matrix exceeds 40 MB of JSON. */
const LONG_PAE = 2500;

export interface ItemCheck extends ItemMeasure {
  readonly index: number;
  readonly name: string | null;
  /** 0-based position of the first item with the same input; null for the first. */
  readonly sameAs: number | null;
}

export interface SubmissionCheck {
  readonly issues: readonly Issue[];
  readonly warnings: readonly Issue[];
  readonly taskCount: number;
  /** Residues and nucleotides over all copies and repeats. */
  readonly totalLength: number;
  readonly items: readonly ItemCheck[];
}

const named = (wrong: AddIssue, path: string, text: string | null, what: string, most = MAX_NAME): void => {
  if (text !== null && text.length > most) {
    wrong(path, 'TOO_LONG', `The ${what} has ${text.length} characters.`, `Use ${most} at most.`);
  }
};

function checkEnvelope(submission: Submission, models: readonly string[], wrong: AddIssue): void {
  const { items, repeat, model, label, idempotencyKey } = submission;
  if (items.length === 0) wrong('items', 'EMPTY_LIST', 'There are no items.', 'Give 1 to 2000 items.');
  if (items.length > MAX_ITEMS) {
    wrong(
      'items',
      'TOO_MANY_ITEMS',
      `There are ${items.length} items.`,
      `Send at most ${MAX_ITEMS} in one submission.`,
    );
  }
  const repeatInRange = repeat >= 1 && repeat <= MAX_TASKS;
  if (!repeatInRange) {
    wrong('repeat', 'REPEAT_OUT_OF_RANGE', `\`repeat\` is ${repeat}.`, `Use 1 to ${MAX_TASKS}.`);
  }
  if (repeatInRange && items.length <= MAX_ITEMS && items.length * repeat > MAX_TASKS) {
    wrong(
      'repeat',
      'TOO_MANY_TASKS',
      `${items.length} items repeated ${repeat} times are ${items.length * repeat} tasks.`,
      `At most ${MAX_TASKS} tasks go into one batch: repeat at most ` +
        `${Math.floor(MAX_TASKS / items.length)} times, or send fewer items.`,
    );
  }
  if (!models.includes(model)) {
    wrong(
      'model',
      'UNKNOWN_MODEL',
      `There is no model ${JSON.stringify(model)}.`,
      `Use ${models.join(' or ')}, or leave it out.`,
    );
  }
  named(wrong, 'label', label, 'label');
  named(wrong, 'idempotencyKey', idempotencyKey, 'idempotency key', 255);
  if (idempotencyKey?.trim() === '') {
    wrong(
      'idempotencyKey',
      'EMPTY',
      'The idempotency key is empty.',
      'Use a text that you will not use again, such as a UUID, or leave it out.',
    );
  }
}

function warnOfSize(item: ItemMeasure, includePae: boolean, odd: AddIssue): void {
  if (item.length > LONG_ITEM) {
    odd(
      '',
      'LONG_ITEM',
      `The item has ${item.length} residues and nucleotides in all.`,
      'Folds of this size often fail for want of memory; fold domains or fewer copies.',
    );
  }
  if (includePae && item.length > LONG_PAE) {
    odd(
      'includePae',
      'LARGE_PAE',
      `The PAE matrix will have ${item.length} × ${item.length} values.`,
      'Leave includePae out where you do not need it.',
    );
  }
}

function warnOfTwins(items: readonly ItemCheck[], odd: AddIssue): void {
  const first = new Map<string, number>();
  for (const { index, name, sameAs } of items) {
    if (sameAs !== null) {
      odd(
        `items.${index}`,
        'IDENTICAL_ITEM',
        `Item ${index} is the same as item ${sameAs}.`,
        'Both are folded and charged. Use `repeat` for several runs of one input.',
      );
    }
    if (name === null) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else
      odd(
        `items.${index}.name`,
        'DUPLICATE_NAME',
        `Item ${earlier} is called ${JSON.stringify(name)} too.`,
        'Give each item a name of its own to tell their results apart.',
      );
  }
}

/** @returns issues (which forbid sending) and warnings in the order of the input, exact lengths */
export function checkSubmission(submission: Submission, models: readonly string[]): SubmissionCheck {
  const issues: Issue[] = [];
  const warnings: Issue[] = [];
  checkEnvelope(submission, models, addIssue(issues));
  const findTwin = createTwinSearch();
  const items: ItemCheck[] = [];
  for (const [index, item] of submission.items.entries()) {
    const prefix = `items.${index}`;
    const notes = { wrong: addIssue(issues, prefix), odd: addIssue(warnings, prefix) };
    named(notes.wrong, 'name', item.name, 'name');
    checkChains(item, notes);
    checkReferences(item, notes);
    const measure = measureItem(item);
    warnOfSize(measure, item.includePae, notes.odd);
    const sameAs = findTwin(index, item, measure.chains);
    items.push({ index, name: item.name, sameAs, ...measure });
  }
  warnOfTwins(items, addIssue(warnings));
  const totalLength = submission.repeat * items.reduce((sum, { length }) => sum + length, 0);
  if (totalLength > LONG_TOTAL) {
    addIssue(warnings)(
      'items',
      'LONG_TOTAL',
      `The submission has ${totalLength} residues and nucleotides in all, repeats included.`,
      'Everything counts toward your credits. Check repeat and copies.',
    );
  }
  return { issues, warnings, taskCount: items.length * submission.repeat, totalLength, items };
}
