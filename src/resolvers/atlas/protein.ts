// Resolvers of Protein and the queries that find one. They ask the loader for what is selected; the
// fields read the record.
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { publicNullable } from '../../schema/field-options.ts';
import { Plddt, type PlddtShape } from '../../schema/plddt.ts';
import { Protein, type ProteinRef, Provenance } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { badInput } from '../../schema/scalars.ts';
import { hashSequence } from '../../schema/uniprot.ts';
import { partValue, readPart } from '../../upstream/part.ts';
import type { RequiredParts } from '../../upstream/proteins/parts.ts';
import { unionParts } from '../../upstream/proteins/required-parts.ts';
import { plddtByResidue } from '../../upstream/proteins/structure.ts';
import { bulkCalls, CLUSTER_OF_PROTEIN, countDistinct, RECORD } from '../costs.ts';
import { withRecord } from './load-cluster.ts';
import { findProtein, loadProteins } from './load-protein.ts';
import { clusterSelection, requiredParts, selectsMeanOnly } from './look-ahead.ts';

/** Largest number of hashes in a query; longer lists are for /export.tsv. */
const MAX_HASHES = 5000;

/** @throws UpstreamError UPSTREAM_DRIFT for confidences that are not those of the sequence */
function readPlddt(protein: ProteinRef, isMeanEnough: boolean): PlddtShape | null {
  if (isMeanEnough) {
    const mean = readPart(protein.meanPlddt);
    const isScored = mean !== null || partValue(protein.structure) !== undefined;
    return isScored || partValue(protein.ptm) !== undefined ? { unit: [], mean } : null;
  }
  const structure = readPart(protein.structure);
  const mean = partValue(protein.meanPlddt) ?? null;
  if (protein.plddt instanceof Error) throw protein.plddt;
  const stated = partValue(protein.plddt);
  if (structure !== null) return { unit: plddtByResidue(structure, stated), mean };
  const isScored = mean !== null || partValue(protein.ptm) !== undefined;
  return isScored ? { unit: stated ?? [], mean } : null;
}

builder.objectFields(Protein, (t) => ({
  accession: t.string({
    ...publicNullable('record', 'Accession in its source database, such as "P01308" or "MGYP000261684433".'),
    resolve: (protein) => readPart(protein.accession),
  }),
  source: t.string({
    ...publicNullable('record', 'Database of the accession: uniprotkb, uniparc, mgy, img_m, spire, ...'),
    resolve: (protein) => readPart(protein.source),
  }),
  sequence: t.string({
    ...publicNullable('record', 'Amino acids in one-letter codes.'),
    resolve: (protein) => readPart(protein.sequence),
  }),
  length: t.int({
    ...publicNullable('record', 'Number of residues, such as 110.'),
    resolve: (protein) => readPart(protein.length),
  }),
  ptm: t.float({
    public: 'record',
    cost: RECORD,
    description:
      'Predicted TM-score of the structure, 0 to 1, such as 0.87; null where there is no structure.',
    resolve: (protein) =>
      partValue(protein.ptm) ?? (protein.structure === null ? null : readPart(protein.ptm)),
  }),
  plddt: t.field({
    public: 'record',
    cost: RECORD,
    type: Plddt,
    description: 'Confidence of the structure, residue by residue; null where there is no structure.',
    resolve: (protein, _args, _ctx, info) => readPlddt(protein, selectsMeanOnly(info)),
  }),
  foldedOnDemand: t.boolean({
    ...publicNullable('record', 'Whether the structure was predicted on request and not with the Atlas.'),
    cost: RECORD,
    resolve: (protein) => readPart(protein.single)?.own.folded_on_demand,
  }),
  cluster: t.field({
    ...publicNullable('record', 'Its cluster. Null when it belongs to none.'),
    cost: CLUSTER_OF_PROTEIN,
    type: Cluster,
    resolve: (protein, _args, ctx, info) => {
      const link = readPart(protein.cluster);
      return link && withRecord(ctx, clusterSelection(info), link.representative, link.info ?? undefined);
    },
  }),
  isClusterRepresentative: t.boolean({
    ...publicNullable('record', 'Whether it represents its cluster; null when it belongs to none.'),
    cost: CLUSTER_OF_PROTEIN,
    resolve: (protein) => {
      const link = readPart(protein.cluster);
      return link && link.representative === protein.hash;
    },
  }),
  provenance: t.field({
    ...publicNullable('record', 'The upstream answer that supplied the latest data of this protein.'),
    type: Provenance,
    resolve: (protein) => readPart(protein.from),
  }),
  raw: t.field({
    public: 'record',
    cost: { ...RECORD, ...LARGE_VALUE },
    type: 'JSON',
    description: 'The upstream record unchanged, for keys that this schema does not have yet.',
    resolve: (protein) => readPart(protein.single)?.raw,
  }),
}));

const FOLD: RequiredParts = { fold: true, structure: true };

const withFold = (needs: RequiredParts, fold: boolean | null | undefined): RequiredParts =>
  fold === true ? unionParts([needs, FOLD]) : needs;

/** Most reads of a record until its structure is folded. */
const FOLD_ON_MISS_CALLS = 25;

const foldOnMissArg = {
  type: 'Boolean',
  defaultValue: false,
  description: 'Have the Atlas predict the structure now if it has none (up to 699 residues; takes seconds).',
} as const;

builder.queryFields((t) => ({
  protein: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description: 'A protein by the hash of its sequence; null when the Atlas does not have it.',
    args: {
      hash: t.arg({
        type: 'ProteinHash',
        required: true,
        description: 'Hash of the protein, such as "12e9c9e4e2835c302e8ba615115edda3".',
      }),
      foldOnMiss: t.arg(foldOnMissArg),
    },
    resolve: (_, { hash, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hash, withFold(requiredParts(info), fold)),
  }),
  proteins: t.field({
    public: 'record',
    cost: ({ hashes }) => {
      const items = countDistinct(hashes);
      return { calls: bulkCalls(items), items, length: hashes.length };
    },
    type: [Protein],
    nullable: { list: true, items: true },
    description:
      'Proteins in your order, duplicates included, null where the Atlas has none. ' +
      `At most ${MAX_HASHES} hashes; one upstream call for each 500.`,
    args: {
      hashes: t.arg({
        type: ['ProteinHash'],
        required: true,
        description: 'Hashes of proteins, such as ["12e9c9e4e2835c302e8ba615115edda3"].',
      }),
    },
    resolve: (_, { hashes }, ctx, info) => {
      if (hashes.length > MAX_HASHES) {
        throw badInput(
          `\`hashes\` holds ${hashes.length} hashes; at most ${MAX_HASHES} fit in one query. Ask in several.`,
        );
      }
      return loadProteins(ctx, hashes, requiredParts(info));
    },
  }),
  proteinBySequence: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description:
      'A protein by its sequence, from which the gateway computes the hash; null when the Atlas does ' +
      'not have it.',
    args: {
      sequence: t.arg({
        type: 'AminoAcidSequence',
        required: true,
        description: 'One-letter codes or FASTA, such as "GIVEQCCTSICSLYQLENYCN".',
      }),
      foldOnMiss: t.arg(foldOnMissArg),
    },
    resolve: (_, { sequence, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hashSequence(sequence), withFold(requiredParts(info), fold)),
  }),
}));
