// UniProt entries by accession or entry name, their proteins, and the names of a protein: of its
// own record, or of the entry that led to it or that its accession names; never of its cluster's.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { publicNullable } from '../../schema/field-options.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { readPart, UNKNOWN } from '../../upstream/part.ts';
import { readHeader } from '../../upstream/proteins/header.ts';
import { NAMES_OF_PROTEIN, RECORD } from '../costs.ts';
import { describeFault, hashInAtlas, readIdentifier, uniprotAccession } from './identifier.ts';
import { findProtein } from './load-protein.ts';
import { requiredParts, withoutNames } from './look-ahead.ts';

/** Null when UniProt has none. @throws UpstreamError BAD_USER_INPUT for other databases */
export async function findEntry(ctx: GatewayContext, id: string): Promise<UniprotRef | null> {
  const read = readIdentifier(id);
  if ('fault' in read) throw badInput(`${describeFault('id', id, read.fault)} ${read.hint}`);
  if ('hash' in read)
    throw badInput(
      'A UniProt identifier is an accession such as "P01308" or an entry name such as "INS_HUMAN". Use ' +
        'protein(hash:) for a hash and proteinBySequence for a sequence.',
    );
  const found = await ctx.uniprot.load(read.entry);
  return found === null ? null : { requested: read.entry, ...found };
}

builder.objectField(UniprotEntry, 'protein', (t) =>
  t.field({
    public: 'record',
    type: Protein,
    cost: 1,
    description:
      'Its protein in the Atlas, found by the hash of the sequence. Null when the Atlas does not have it.',
    resolve: async (entry, _, ctx, info) => {
      const hash = hashInAtlas(entry);
      if (hash === null) return null;
      const found = await findProtein(ctx, hash, withoutNames(requiredParts(info)));
      return found && { ...found, entry };
    },
  }),
);

builder.queryField('uniprotEntry', (t) =>
  t.field({
    public: 'release',
    type: UniprotEntry,
    cost: 1,
    description:
      'A UniProt entry by accession or entry name; null when there is none. A sandbox lacks most of them.',
    args: {
      id: t.arg.string({
        required: true,
        description: 'An accession or entry name, such as "P01308" or "INS_HUMAN".',
      }),
    },
    resolve: (_, { id }, ctx) => findEntry(ctx, id),
  }),
);

/** The wire name of each name in a UniProt entry. */
const IN_ENTRY = { name: 'protein_name', organism: 'organism', gene: 'gene' } as const;

const entryAccession = ({ record, requested }: UniprotRef): string | undefined =>
  uniprotAccession(record.accession ?? requested);

/** Whether the entry that led to the protein is that of its own accession: several may have its sequence. */
function isOwnEntry(protein: ProteinRef, entry: UniprotRef): boolean {
  const accession = entryAccession(entry);
  return accession !== undefined && accession === uniprotAccession(readPart(protein.accession));
}

/** The UniProt entry of a protein's accession: one call, unless that entry led here. Null for other databases. */
async function findOwnEntry(ctx: GatewayContext, protein: ProteinRef): Promise<UniprotRef | null> {
  const { entry } = protein;
  const accession = uniprotAccession(readPart(protein.accession));
  if (accession === undefined) return null;
  return entry !== undefined && isOwnEntry(protein, entry) ? entry : findEntry(ctx, accession);
}

/** The protein with the names of its record, which were left out where a UniProt entry led to it. */
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
  const { entry, nameInCluster } = protein;
  if (entry !== undefined && isOwnEntry(protein, entry)) {
    const name = entry.record[IN_ENTRY[key]];
    if (name != null) return name;
  } else if (key === 'name' && nameInCluster != null) return nameInCluster;
  const named = await withNames(ctx, protein);
  const names = readPart(named.names);
  const { name, ...others } = readHeader(names?.header);
  const own = { ...others, name: names?.name ?? name };
  if (own[key] !== undefined) return own[key];
  return own.isComplete ? null : ((await findOwnEntry(ctx, named))?.record[IN_ENTRY[key]] ?? null);
}

const named = (key: keyof typeof IN_ENTRY, description: string) => ({
  ...publicNullable('record', description),
  cost: NAMES_OF_PROTEIN,
  resolve: (protein: ProteinRef, _: object, ctx: GatewayContext) => findName(ctx, protein, key),
});

builder.objectFields(Protein, (t) => ({
  name: t.string(
    named(
      'name',
      'Its own name, such as "Insulin": of its record, or of its UniProt entry. Null where neither has ' +
        'one; the name of the representative of its cluster is `cluster { name }`.',
    ),
  ),
  organism: t.string(
    named(
      'organism',
      'The organism as its record or its UniProt entry names it, such as "Homo sapiens"; of proteins of ' +
        'metagenomes often only a group, such as "Bacteria". Null where neither says.',
    ),
  ),
  gene: t.string(
    named('gene', 'Gene name of its record or its UniProt entry, such as "INS"; null where neither has one.'),
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
