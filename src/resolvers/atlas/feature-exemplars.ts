// The proteins of a database in which a feature is most active, and their UniProt entries.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Feature, type FeatureRef } from '../../schema/feature.ts';
import { publicNonNull } from '../../schema/public-fields-plugin.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { FEATURE_DETAIL } from '../costs.ts';
import { readFirst } from '../relay/connection.ts';
import { listOf } from './feature.ts';
import { findEntry } from './uniprot.ts';

const ReferenceDatabase = builder.enumType('ReferenceDatabase', {
  description: 'A database whose proteins were ranked by a feature.',
  values: {
    SWISSPROT: { value: 'SWISSPROT', description: 'UniProtKB/Swiss-Prot: reviewed entries.' },
    UNIREF90: { value: 'UNIREF90', description: 'UniRef90: one sequence for each group of 90 % identity.' },
  } as const,
});

interface Exemplar {
  readonly accession: string;
  readonly activation: number;
}

const FeatureExemplar = builder.objectRef<Exemplar>('FeatureExemplar').implement({
  description: 'A protein in which a feature is especially active.',
  fields: (t) => ({
    accession: t.exposeString(
      'accession',
      publicNonNull('release', 'Its identifier in the database, such as "P01308" or "UniRef90_P01308".'),
    ),
    activation: t.exposeFloat(
      'activation',
      publicNonNull('release', 'Activation of the feature in the protein, such as 9.1.'),
    ),
    entry: t.field({
      public: 'release',
      type: UniprotEntry,
      cost: 1,
      description: 'Its UniProt entry; null where UniProt has none under this accession. One call for each.',
      resolve: ({ accession }, _, ctx) => {
        // The accession in a UniRef90 name, unless it is one of UniParc.
        const id = accession.replace(/^UniRef90_/, '');
        return id.startsWith('UPI') ? null : findEntry(ctx, id);
      },
    }),
  }),
});

async function exemplars(
  ctx: GatewayContext,
  feature: FeatureRef,
  database: typeof ReferenceDatabase.$inferType | null | undefined,
  first: number,
): Promise<Exemplar[]> {
  const rows =
    database === 'UNIREF90'
      ? (await listOf(ctx, feature, 'top_100_uniref_ids')).map((row) => ({
          ...row,
          accession: row.uniref_id,
        }))
      : (await listOf(ctx, feature, 'top_swissprot_activations')).map((row) => ({
          ...row,
          accession: row.uniprot_id,
        }));
  return rows.slice(0, first);
}

builder.objectField(Feature, 'topProteins', (t) =>
  t.field({
    public: 'release',
    cost: ({ first }) => ({ items: first ?? 10, ...FEATURE_DETAIL }),
    type: [FeatureExemplar],
    nullable: false,
    description: 'The proteins in which it is most active, strongest first.',
    args: {
      database: t.arg({
        type: ReferenceDatabase,
        defaultValue: 'SWISSPROT',
        description: 'The ranked database.',
      }),
      first: t.arg.int({
        defaultValue: 10,
        description: 'Return at most this many; the upstream has up to 100.',
      }),
    },
    resolve: (feature, { database, first }, ctx) => exemplars(ctx, feature, database, readFirst(first) ?? 10),
  }),
);
