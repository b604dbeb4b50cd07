// Input and results of submitFold. checkFold takes the same input; src/submission checks it.

import { Batch, type BatchShape } from './batch.ts';
import { builder } from './builder.ts';
import {
  InputIssue,
  InvalidInput,
  type InvalidInputShape,
  type IssueShape,
  NotFound,
  type NotFoundShape,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from './problem.ts';

const ModificationInput = builder.inputType('ModificationInput', {
  description: 'A residue that is replaced by a chemical component.',
  fields: (t) => ({
    position: t.int({ required: true, description: 'Position in the sequence, 0-based, such as 14.' }),
    ccd: t.string({
      required: true,
      description: 'Code in the Chemical Component Dictionary, such as "SEP" (phosphoserine).',
    }),
  }),
});

const PolymerInput = builder.inputType('PolymerInput', {
  description: 'A polymer. `ids` names the copies: one id for one chain, several ids for as many copies.',
  fields: (t) => ({
    ids: t.stringList({ description: 'Chain ids, unique in the item, such as ["A", "B"] for two copies.' }),
    sequence: t.string({
      required: true,
      description:
        'One-letter codes, such as "GIVEQCCTSICSLYQLENYCN". May be FASTA: the gateway drops a header ' +
        'line, white space and a final *. Letters that name no residue count as unknown residues, with ' +
        'a warning.',
    }),
    modifications: t.field({ type: [ModificationInput], description: 'Modified residues.' }),
  }),
});

const LigandInput = builder.inputType('LigandInput', {
  description:
    'A small molecule, by `smiles` or `ccd`. If you give both, the upstream folds `ccd` and you get a ' +
    'warning.',
  fields: (t) => ({
    ids: t.stringList({ description: 'Chain ids, one for each copy, such as ["L"].' }),
    smiles: t.string({ description: 'SMILES, such as "CC(=O)Oc1ccccc1C(=O)O" (aspirin).' }),
    ccd: t.stringList({ description: 'Codes in the Chemical Component Dictionary, such as ["ATP"].' }),
  }),
});

const ChainInput = builder.inputType('ChainInput', {
  description: 'Exactly one kind of chain.',
  isOneOf: true,
  fields: (t) => ({
    protein: t.field({ type: PolymerInput, description: 'A protein.' }),
    rna: t.field({ type: PolymerInput, description: 'An RNA.' }),
    dna: t.field({ type: PolymerInput, description: 'A DNA strand.' }),
    ligand: t.field({ type: LigandInput, description: 'A small molecule or ion.' }),
  }),
});

const CovalentBondInput = builder.inputType('CovalentBondInput', {
  description: 'A bond between two atoms. All indices are 0-based.',
  fields: (t) => ({
    chainId1: t.string({ required: true, description: 'Chain of the first atom, such as "A".' }),
    residueIndex1: t.int({ required: true, description: 'Its residue in that chain, such as 41.' }),
    atomIndex1: t.int({ required: true, description: 'Its heavy atom in that residue, such as 5.' }),
    chainId2: t.string({ required: true, description: 'Chain of the second atom, such as "L".' }),
    residueIndex2: t.int({ required: true, description: 'Its residue in that chain, such as 0.' }),
    atomIndex2: t.int({ required: true, description: 'Its heavy atom in that residue, such as 3.' }),
  }),
});

const ContactInput = builder.inputType('ContactInput', {
  description: 'A residue that the binder should touch.',
  fields: (t) => ({
    chainId: t.string({ required: true, description: 'Its chain, such as "A".' }),
    residueIndex: t.int({ required: true, description: 'Its position in that chain, 0-based, such as 57.' }),
  }),
});

const PocketInput = builder.inputType('PocketInput', {
  description: 'Where a binder should sit (binder design).',
  fields: (t) => ({
    binderChainId: t.string({ required: true, description: 'Chain of the binder, such as "B".' }),
    contacts: t.field({
      type: [ContactInput],
      required: true,
      description: 'Residues that it should touch.',
    }),
  }),
});

const DistogramInput = builder.inputType('DistogramInput', {
  description: 'Distances to fold a chain towards.',
  fields: (t) => ({
    chainId: t.string({ required: true, description: 'The chain, such as "A".' }),
    distogram: t.field({
      // One row and one column for each residue of the chain.
      type: t.listRef(t.listRef('Int', { required: true }), { required: true }),
      required: true,
      description: 'Square matrix of distance bins, one row and one column for each residue of the chain.',
    }),
  }),
});

const FoldItemInput = builder.inputType('FoldItemInput', {
  description: 'One complex to fold.',
  fields: (t) => ({
    name: t.string({ description: 'Your own name for it, stored by the gateway, such as "insulin-dimer".' }),
    chains: t.field({ type: [ChainInput], required: true, description: 'The chains of the complex.' }),
    covalentBonds: t.field({ type: [CovalentBondInput], description: 'Bonds between chains.' }),
    pocket: t.field({ type: PocketInput, description: 'Where a binder should sit.' }),
    distogramConditioning: t.field({ type: [DistogramInput], description: 'Distances to fold towards.' }),
    includePae: t.boolean({
      defaultValue: false,
      description: 'Also predict the aligned error: a matrix of tokens by tokens.',
    }),
    includePairChainsIptm: t.boolean({ defaultValue: false, description: 'Also score each pair of chains.' }),
    includeEmbeddings: t.boolean({ defaultValue: false, description: 'Also give embeddings.' }),
    potentialSequenceOfConcern: t.boolean({
      defaultValue: false,
      description:
        'Discloses a potential sequence of concern. For approved users the upstream then skips additional ' +
        'safety filters.',
    }),
  }),
});

export const SubmitFoldInput = builder.inputType('SubmitFoldInput', {
  description: 'What to fold. Items times repeats are tasks, at most 2000.',
  fields: (t) => ({
    items: t.field({ type: [FoldItemInput], required: true, description: 'The complexes, 1 to 2000.' }),
    repeat: t.int({ defaultValue: 1, description: 'How many times each item is folded, 1 to 2000.' }),
    model: t.string({ description: 'Name of the model; the configured model when you leave it out.' }),
    label: t.string({
      description: 'Your own name for the batch, stored by the gateway, such as "insulin-screen".',
    }),
    idempotencyKey: t.string({
      description:
        'A key of your choice, such as a UUID. A second submission with the same key and input returns ' +
        'the first batch and spends nothing.',
    }),
  }),
});

/** The batch is queued, by this or an earlier request with the same key. */
export interface FoldSubmittedShape {
  readonly kind: 'FoldSubmitted';
  readonly batch: BatchShape;
  readonly replayed: boolean;
  readonly message: string | null;
  readonly warnings: readonly IssueShape[];
}

/** The upstream may have queued tasks or not. */
export interface OutcomeUnknownShape extends ProblemBase<'OutcomeUnknown'> {
  readonly idempotencyKey: string | null;
}

/** The key was used with another input; `batchId` is the batch of that input where it is known. */
export interface IdempotencyConflictShape extends ProblemBase<'IdempotencyConflict'> {
  readonly batchId: string | null;
}

export type SubmitFoldResultShape =
  | FoldSubmittedShape
  | InvalidInputShape
  | RefusedShape
  | OutcomeUnknownShape
  | IdempotencyConflictShape
  | NotFoundShape;

const FoldSubmitted = builder.objectRef<FoldSubmittedShape>('FoldSubmitted').implement({
  description: 'The folds are queued.',
  fields: (t) => ({
    batch: t.expose('batch', { type: Batch, nullable: false, description: 'The batch of the folds.' }),
    replayed: t.exposeBoolean('replayed', {
      nullable: false,
      description:
        'True when an earlier request with the same idempotency key queued them; nothing was spent again.',
    }),
    // Not null, so that a query can select it next to `message` of a problem, which is never null.
    message: t.string({
      nullable: false,
      description: 'The message of the upstream; "The folds are queued." where it has none.',
      resolve: ({ message }) => message ?? 'The folds are queued.',
    }),
    warnings: t.expose('warnings', {
      type: [InputIssue],
      nullable: { list: false, items: false },
      description: 'What is allowed but probably not intended.',
    }),
  }),
});

const OutcomeUnknown = builder.objectRef<OutcomeUnknownShape>('OutcomeUnknown').implement({
  description:
    'The upstream answered 500 or the connection broke: some items may be queued and charged. The ' +
    'gateway never retries a submission.',
  interfaces: [Problem],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      description: 'The idempotency key, which is now used up; null when you gave none.',
    }),
  }),
});

export const IdempotencyConflict = builder
  .objectRef<IdempotencyConflictShape>('IdempotencyConflict')
  .implement({
    description: 'The idempotency key was used before with another input. Nothing was sent.',
    interfaces: [Problem],
  });

export const SubmitFoldResult = builder.unionType('SubmitFoldResult', {
  description: 'Result of a submission. Only resubmitFold, which names a batch, gives NotFound.',
  types: [FoldSubmitted, InvalidInput, Refused, OutcomeUnknown, IdempotencyConflict, NotFound],
  resolveType: ({ kind }) => kind,
});
