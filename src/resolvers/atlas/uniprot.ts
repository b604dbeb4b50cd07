// Resolves UniProt accessions and entry names, and links an entry to the Atlas.

import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { hashOfEntry, UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { findProtein } from './protein.ts';
import { requiredPartsOf } from './protein-parts.ts';

/** Whether a text has the form of an accession or entry name. */
export const isUniprotId = (text: string): boolean => /^[A-Z0-9_.-]{1,40}$/i.test(text.trim());

/**
 * An entry by accession or entry name; null when UniProt has none.
 *
 * @throws UpstreamError BAD_USER_INPUT for identifiers of other databases
 */
export async function findEntry(ctx: GatewayContext, id: string): Promise<UniprotRef | null> {
  const requested = id.trim().toUpperCase();
  if (!isUniprotId(requested)) {
    throw badInput(
      'A UniProt identifier is an accession such as "P01308" or an entry name such as "INS_HUMAN".',
    );
  }
  const found = await ctx.uniprot.load(requested);
  return found === null ? null : { ...found, requested };
}

builder.objectField(UniprotEntry, 'protein', (t) =>
  t.field({
    public: 'record',
    type: Protein,
    cost: 1,
    description:
      'Its protein in the Atlas, found by the hash of the sequence. Null when the Atlas does not have it.',
    resolve: (entry, _, ctx, info) => {
      const hash = hashOfEntry(entry);
      return hash === null ? null : findProtein(ctx, hash, requiredPartsOf(info));
    },
  }),
);

builder.queryField('uniprotEntry', (t) =>
  t.field({
    public: 'release',
    type: UniprotEntry,
    cost: 1,
    description: 'A UniProt entry by accession or entry name; null when there is none.',
    args: {
      id: t.arg.string({
        required: true,
        description: 'An accession or entry name, such as "P01308" or "INS_HUMAN".',
      }),
    },
    resolve: (_, { id }, ctx) => findEntry(ctx, id),
  }),
);
