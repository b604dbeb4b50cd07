// The input of submitFold, which checkFold takes, too. Its fields are checked against the types of
// src/submission, which reads it.
import type { SubmissionInput } from '../submission/input.ts';
import { builder } from './builder.ts';

const ModificationInput = builder.inputType('ModificationInput', {
  description: 'A residue that is replaced by a chemical component.',
  fields: (t) => ({
    position: t.int({ required: true, description: 'Position in the sequence, 0-based, such as 8.' }),
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
        'One-letter codes or FASTA, such as "GIVEQCCTSICSLYQLENYCN"; the gateway drops a header line, white ' +
        'space, numbers of blocks and a final *. Letters that name no residue count as unknown residues, with ' +
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

const ATOM_INDEX =
  'Its heavy atom in that residue, such as 5: in the order of the SMILES, or of the entry in the dictionary ' +
  'without atoms that leave. checkFold says which atom it is.';

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
  description:
    'A bond between two atoms, each by its index or its name; all indices are 0-based. Names are known for ' +
    'standard and common modified residues, sugars, cofactors and ions.',
  fields: (t) => ({
    chainId1: t.string({ required: true, description: 'Chain of the first atom, such as "A".' }),
    residueIndex1: t.int({ required: true, description: 'Its residue in that chain, such as 41.' }),
    atomIndex1: t.int({ description: ATOM_INDEX }),
    atomName1: t.string({ description: 'Its name instead of its index, such as "ND2".' }),
    chainId2: t.string({ required: true, description: 'Chain of the second atom, such as "L".' }),
    residueIndex2: t.int({ required: true, description: 'Its residue in that chain, such as 0.' }),
    atomIndex2: t.int({ description: ATOM_INDEX }),
    atomName2: t.string({ description: 'Its name instead of its index, such as "C1".' }),
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
      type: 'IntMatrix',
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
    covalentBonds: t.field({
      type: [CovalentBondInput],
      description: 'Covalent bonds between chains, or within one.',
    }),
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

const NotifyInput = builder.inputType('NotifyInput', {
  description: 'Where to notify when a batch ends.',
  fields: (t) => ({
    url: t.string({
      required: true,
      description:
        'Address that gets a POST, such as "https://lab.example.org/hooks/folds". Its host must be one that ' +
        'the operator lists, over https and at a public address.',
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
        'A key of your choice, such as a UUID: for 31 days a second submission with the same key and input ' +
        'returns the first batch and spends nothing. It counts for one token: with another it pays again.',
    }),
    notify: t.field({
      type: NotifyInput,
      description:
        'Sends a signed webhook when every task has ended, at least once; refused unless the operator allows ' +
        'webhooks. It is no part of the input that idempotencyKey stands for, and that of the first submission ' +
        'counts; the gateway keeps your token in memory meanwhile, and after a restart goes on at your next ' +
        'request.',
    }),
  }),
});

type Identical<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

// Compiles only while the fields above are exactly those that src/submission reads.
true satisfies Identical<typeof SubmitFoldInput.$inferInput, SubmissionInput>;
