// The names of a protein: of its own record, or of the UniProt entry that led to it or that its
// accession names; never of its cluster's.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { publicNullable } from '../../schema/field-options.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { readPart, UNKNOWN } from '../../upstream/part.ts';
import { readHeader } from '../../upstream/proteins/header.ts';
import { NAMES_OF_PROTEIN, RECORD } from '../costs.ts';
import { uniprotAccession } from './identifier.ts';
import { findEntry } from './uniprot.ts';

/** The wire name of each name in a UniProt entry. */
const IN_ENTRY = { name: 'protein_name', organism: 'organism', gene: 'gene' } as const;

/**
 * The entry that led to the protein, where it is that of its own accession: several entries may
 * have its sequence.
 */
function readOwnEntry({ accession, entry }: ProteinRef): UniprotRef | undefined {
  const led = entry && uniprotAccession(entry.record.accession ?? entry.requested);
  return led !== undefined && led === uniprotAccession(readPart(accession)) ? entry : undefined;
}

/**
 * The UniProt entry of a protein's accession: one call, unless that entry led here. Null for other
 * databases.
 */
async function findOwnEntry(ctx: GatewayContext, protein: ProteinRef): Promise<UniprotRef | null> {
  const accession = uniprotAccession(readPart(protein.accession));
  return accession === undefined ? null : (readOwnEntry(protein) ?? findEntry(ctx, accession));
}

/**
 * The protein with the names of its record, which were left out where a UniProt entry led to it.
 */
async function withNames(ctx: GatewayContext, protein: ProteinRef): Promise<ProteinRef> {
  if (protein.names !== UNKNOWN) return protein;
  const loaded = await ctx.proteins.load(protein.hash, { header: true });
  return loaded === null ? { ...protein, names: null } : { ...protein, names: loaded.names };
}

/** One rule, whatever led to the protein: the name of its record, or that of its UniProt entry. */
async function findName(
  ctx: GatewayContext,
  protein: ProteinRef,
  key: keyof typeof IN_ENTRY,
): Promise<string | null> {
  const own = readOwnEntry(protein);
  const known = own?.record[IN_ENTRY[key]];
  if (known != null) return known;
  const named = await withNames(ctx, protein);
  const names = readPart(named.names);
  const { name, ...others } = readHeader(names?.header);
  const inRecord = { ...others, name: names?.name ?? name };
  if (inRecord[key] !== undefined) return inRecord[key];
  return inRecord.isComplete ? null : ((await findOwnEntry(ctx, named))?.record[IN_ENTRY[key]] ?? null);
}

const nameField = (key: keyof typeof IN_ENTRY, description: string) => ({
  ...publicNullable('record', description),
  cost: NAMES_OF_PROTEIN,
  resolve: (protein: ProteinRef, _: object, ctx: GatewayContext) => findName(ctx, protein, key),
});

builder.objectFields(Protein, (t) => ({
  name: t.string(
    nameField(
      'name',
      'Its own name, such as "Insulin": of the UniProt entry where `uniprotEntry` or `lookup` led to it ' +
        'by its accession or entry name, else of its record, or of its entry where the record has none; ' +
        'the two may differ. Null where neither has one; `cluster { name }` is that of the representative.',
    ),
  ),
  organism: t.string(
    nameField(
      'organism',
      'The organism as its record or its UniProt entry names it, such as "Homo sapiens"; of proteins of ' +
        'metagenomes often only a group, such as "Bacteria". Null where neither says.',
    ),
  ),
  gene: t.string(
    nameField(
      'gene',
      'Gene name of its record or its UniProt entry, such as "INS"; null where neither has one.',
    ),
  ),
  header: t.string({
    public: 'record',
    cost: RECORD,
    description:
      'Header in the FASTA file of its database, such as "sp|P01308|INS_HUMAN Insulin OS=Homo sapiens ' +
      'OX=9606 GN=INS". Null where the record has none.',
    resolve: async (protein, _, ctx) => readPart((await withNames(ctx, protein)).names)?.header,
  }),
  uniprotEntry: t.field({
    public: 'record',
    type: UniprotEntry,
    cost: { shared: { uniprot: 1 } },
    description:
      'The UniProt entry of its accession: one upstream call for each, cached for a day, none when the ' +
      'entry led to the protein. Null for proteins of other databases.',
    resolve: (protein, _, ctx) => findOwnEntry(ctx, protein),
  }),
}));
