// Checks a whole submission before anything is sent: all rules of the spec, with paths in the
// GraphQL input, in time proportional to its size.

import { quote } from '../plain-text.ts';
import type { Bond } from './bonds.ts';
import { checkChains } from './check-chains.ts';
import { checkReferences } from './check-references.ts';
import { checkSizes } from './check-size.ts';
import type { SubmissionInput } from './input.ts';
import { type AddIssue, createAddIssue, type Issue } from './issues.ts';
import { type ItemMeasure, measureItem } from './measure.ts';
import { type SmilesSyntax, scanSmiles } from './smiles.ts';
import { readEnvelope, readSubmission, type Submission } from './submission.ts';
import { itemText } from './wire-body.ts';

/** Limits of a submission (spec, section Limits). */
export const MAX_ITEMS = 2000;
export const MAX_TASKS = 2000;

/** Largest length of names and labels, in characters. */
const MAX_NAME = 200;
/**
 * White space around a text, and anywhere what cannot be seen or is taken for a space: control and
 * format characters, halves of characters, fillers, and other white space than a space.
 */
const UNSEEN = /^\s|\s$|[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\s/u;
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
  readonly covalentBonds: readonly Bond[];
}

export interface SubmissionCheck {
  readonly issues: readonly Issue[];
  readonly warnings: readonly Issue[];
  readonly taskCount: number;
  /** Residues and nucleotides over all copies and repeats. */
  readonly totalLength: number;
  readonly items: readonly ItemCheck[];
}

const checkLength = (
  wrong: AddIssue,
  path: string,
  text: string | null,
  what: string,
  maxLength = MAX_NAME,
): void => {
  if (text !== null && text.length > maxLength) {
    wrong(path, 'TOO_LONG', `The ${what} has ${text.length} characters.`, `Use ${maxLength} at most.`);
  }
};

/** The input without its items. */
type Envelope = Omit<Submission, 'items'> & { readonly items: readonly unknown[] };

function checkEnvelope(envelope: Envelope, models: readonly string[], wrong: AddIssue): void {
  const { items, repeat, model, label, idempotencyKey } = envelope;
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
      `There is no model ${quote(model)}.`,
      `Use ${models.join(' or ')}, or leave it out.`,
    );
  }
  checkLength(wrong, 'label', label, 'label');
  checkLength(wrong, 'idempotencyKey', idempotencyKey, 'idempotency key', 255);
  if (idempotencyKey?.trim() === '') {
    wrong(
      'idempotencyKey',
      'EMPTY',
      'The idempotency key is empty.',
      'Use a text that you will not use again, such as a UUID, or leave it out.',
    );
  } else if (idempotencyKey !== null && UNSEEN.test(idempotencyKey)) {
    wrong(
      'idempotencyKey',
      'INVISIBLE_CHARACTER',
      'The idempotency key has white space around it, or characters that cannot be seen.',
      'Leave them out: a key that differs in them alone would be paid again.',
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

function warnOfDuplicates(items: readonly ItemCheck[], odd: AddIssue): void {
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
        `Item ${earlier} is called ${quote(name)} too.`,
        'Give each item a name of its own to tell their results apart.',
      );
  }
}

/** Reads each SMILES once: designers give one ligand in hundreds of complexes. */
function createScan(): typeof scanSmiles {
  const known = new Map<string, SmilesSyntax>();
  return (smiles) => {
    const syntax = known.get(smiles) ?? scanSmiles(smiles);
    known.set(smiles, syntax);
    return syntax;
  };
}

/** @returns issues (which forbid sending) and warnings in the order of the input, exact lengths */
export function checkSubmission(submission: Submission, models: readonly string[]): SubmissionCheck {
  const issues: Issue[] = [];
  const warnings: Issue[] = [];
  checkEnvelope(submission, models, createAddIssue(issues));
  const scan = createScan();
  const firstByInput = new Map<string, number>();
  const items: ItemCheck[] = [];
  for (const [index, item] of submission.items.entries()) {
    const prefix = `items.${index}`;
    const itemIssues = { wrong: createAddIssue(issues, prefix), odd: createAddIssue(warnings, prefix) };
    checkLength(itemIssues.wrong, 'name', item.name, 'name');
    checkChains(item, itemIssues, scan);
    checkReferences(item, itemIssues);
    const measure = measureItem(item);
    warnOfSize(measure, item.includePae, itemIssues.odd);
    const key = itemText(item);
    const sameAs = firstByInput.get(key) ?? null;
    if (sameAs === null) firstByInput.set(key, index);
    items.push({ index, name: item.name, sameAs, covalentBonds: item.covalentBonds, ...measure });
  }
  warnOfDuplicates(items, createAddIssue(warnings));
  const totalLength = submission.repeat * items.reduce((sum, { length }) => sum + length, 0);
  if (totalLength > LONG_TOTAL) {
    createAddIssue(warnings)(
      'items',
      'LONG_TOTAL',
      `The submission has ${totalLength} residues and nucleotides in all, repeats included.`,
      'Everything counts toward your credits. Check repeat and copies.',
    );
  }
  return { issues, warnings, taskCount: items.length * submission.repeat, totalLength, items };
}

/** The check of an input that has more than is read; null where all is within its maximum. */
function checkInputSizes(
  { items }: SubmissionInput,
  envelope: Submission,
  models: readonly string[],
): SubmissionCheck | null {
  const tooBig: Issue[] = [];
  if (items.length <= MAX_ITEMS) checkSizes(items, createAddIssue(tooBig));
  if (items.length <= MAX_ITEMS && tooBig.length === 0) return null;
  const issues: Issue[] = [];
  checkEnvelope({ ...envelope, items }, models, createAddIssue(issues));
  const taskCount = items.length * envelope.repeat;
  return { issues: [...issues, ...tooBig], warnings: [], taskCount, totalLength: 0, items: [] };
}

/**
 * Reads and checks an input. Of one that has more than is read, nothing but the sizes is checked,
 * and the submission has no items.
 *
 * @param models - the first is the model of an input that names none
 */
export function readAndCheck(
  input: SubmissionInput,
  models: readonly string[],
): { readonly submission: Submission; readonly check: SubmissionCheck } {
  const model = models[0] ?? '';
  const envelope = readEnvelope(input, model);
  const tooBig = checkInputSizes(input, envelope, models);
  if (tooBig !== null) return { submission: envelope, check: tooBig };
  const submission = readSubmission(input, model);
  return { submission, check: checkSubmission(submission, models) };
}
