// A UniProt entry as the service resolves it. Its link to the Atlas is in resolvers/atlas/uniprot.ts.
import { createHash } from 'node:crypto';
import type { WithRaw } from '../upstream/atlas-request.ts';
import type { UniprotRecord } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';

/** A resolved entry; `requested` is the identifier that it was asked by. */
export interface UniprotRef extends WithRaw<UniprotRecord> {
  readonly requested: string;
}

/** MD5 of a sequence in the Atlas's spelling. */
export const hashOfSequence = (sequence: string): string => createHash('md5').update(sequence).digest('hex');

/** The hash that the entry names, else that of its sequence. */
export const hashOfEntry = ({ record }: UniprotRef): string | null =>
  record.protein_hash ?? (record.sequence == null ? null : hashOfSequence(record.sequence.toUpperCase()));

export const UniprotEntry = builder.objectRef<UniprotRef>('UniprotEntry').implement({
  extensions: keyedBy('accession'),
  description: 'An entry of the UniProt knowledge base, resolved from its accession or entry name.',
  fields: (t) => ({
    accession: t.string({
      public: 'release',
      nullable: false,
      description: 'Such as "P01308".',
      resolve: ({ record, requested }) => record.accession ?? requested,
    }),
    entryName: t.string({
      public: 'release',
      description: 'Such as "INS_HUMAN".',
      resolve: ({ record }) => record.entry_name,
    }),
    name: t.string({
      public: 'release',
      description: 'Name of the protein, such as "Insulin".',
      resolve: ({ record }) => record.protein_name,
    }),
    gene: t.string({
      public: 'release',
      description: 'Such as "INS".',
      resolve: ({ record }) => record.gene,
    }),
    organism: t.string({
      public: 'release',
      description: 'Such as "Homo sapiens".',
      resolve: ({ record }) => record.organism,
    }),
    function: t.string({
      public: 'release',
      description: 'What the protein does, in prose.',
      resolve: ({ record }) => record.function,
    }),
    sequence: t.string({
      public: 'release',
      description: 'Amino acids in one-letter codes.',
      resolve: ({ record }) => record.sequence,
    }),
    length: t.int({
      public: 'release',
      description: 'Number of residues, such as 110.',
      resolve: ({ record }) => record.sequence_length ?? record.sequence?.length,
    }),
    proteinHash: t.field({
      public: 'release',
      type: 'ProteinHash',
      description: 'The hash of its sequence: what the Atlas would know it by.',
      resolve: hashOfEntry,
    }),
    raw: t.field({
      public: 'release',
      type: 'JSON',
      description: 'The upstream record as it came, for keys this schema does not know yet.',
      resolve: ({ raw }) => raw,
    }),
  }),
});
