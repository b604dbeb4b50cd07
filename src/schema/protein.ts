// The Protein as a noun: only its hash comes with every record, everything else is a part that resolvers/atlas/protein.ts loads.
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';

/** A protein by its hash; whether the Atlas holds it was found out by whoever made the reference, or does not matter. */
export interface ProteinRef {
  readonly hash: string;
}

export const Protein = builder.objectRef<ProteinRef>('Protein');

builder.node(Protein, {
  extensions: keyedBy('hash', 'id'),
  description:
    'A protein of the Atlas, known by the MD5 of its sequence. Fields are fetched in parts: all proteins of a query share one bulk call for each 500.',
  id: {
    public: 'record',
    resolve: (protein) => protein.hash,
    description: 'Relay id: give it to `node(id:)`.',
  },
  fields: (t) => ({
    hash: t.expose('hash', {
      public: 'record',
      type: 'ProteinHash',
      nullable: false,
      description: 'MD5 of the upper-case sequence, such as "12e9c9e4e2835c302e8ba615115edda3".',
    }),
  }),
});
