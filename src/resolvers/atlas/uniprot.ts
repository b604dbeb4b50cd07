// UniProt entries by accession or entry name, and their proteins.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { describeFault, readIdentifier } from './identifier.ts';
import { findProtein } from './load-protein.ts';
import { requiredParts, withoutNames } from './look-ahead.ts';
import { findUnconfirmed, hashInAtlas } from './resolve-identifiers.ts';

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
  if (found === null) return null;
  const entry = { requested: read.entry, ...found };
  const unconfirmed = findUnconfirmed(read, entry);
  if (unconfirmed !== undefined)
    throw badInput(`${describeFault('id', id, unconfirmed.fault)} ${unconfirmed.hint}`);
  return entry;
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
