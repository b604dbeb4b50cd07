// The Protein type and the origin of its data; resolvers/atlas/protein.ts has the other fields.
import type { ProteinRecord, Source } from '../upstream/proteins/record.ts';
import { builder, keyedBy } from './builder.ts';
import { publicNonNull, publicNullable } from './field-options.ts';
import type { UniprotRef } from './uniprot.ts';

/** A protein with the parts that were loaded for the selection. */
export interface ProteinRef extends ProteinRecord {
  /** The UniProt entry that led to it, whose names cost no call. */
  readonly entry?: UniprotRef | undefined;
}

export const Protein = builder.objectRef<ProteinRef>('Protein');

builder.node(Protein, {
  extensions: keyedBy('hash', 'id'),
  description:
    'A protein of the Atlas; its id is the MD5 of its sequence. The gateway loads fields in parts: all ' +
    'proteins of a query share one bulk call for each 500.',
  id: { public: 'record', resolve: (protein) => protein.hash },
  fields: (t) => ({
    hash: t.expose('hash', {
      public: 'record',
      type: 'ProteinHash',
      nullable: false,
      description: 'MD5 of the upper-case sequence, such as "12e9c9e4e2835c302e8ba615115edda3".',
    }),
  }),
});

export const Provenance = builder.objectRef<Source>('Provenance').implement({
  description: 'Where the data of this object came from.',
  fields: (t) => ({
    source: t.string({
      public: 'record',
      nullable: false,
      description: 'The upstream operation that answered last, such as "atlas:bulk" or "atlas:protein".',
      resolve: ({ operation }) => `atlas:${operation}`,
    }),
    retrievedAt: t.field({
      ...publicNonNull('record', 'When it answered.'),
      type: 'DateTime',
      resolve: ({ retrievedAt }) => new Date(retrievedAt),
    }),
    fromCache: t.exposeBoolean('fromCache', {
      nullable: false,
      description: 'Whether the gateway had it in its cache before this request.',
    }),
    upstreamRequestId: t.exposeString(
      'requestId',
      publicNullable(
        'record',
        "The upstream's id of the call, to quote when you report a problem; null where it gave none.",
      ),
    ),
  }),
});
