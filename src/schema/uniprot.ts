// A UniProt entry as the service resolves it.
import { createHash } from 'node:crypto';
import type { WithRaw } from '../upstream/atlas-request.ts';
import type { UniprotRecord } from '../upstream/wire.ts';
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';

/** A resolved entry; `requested` is the identifier in the request. */
export interface UniprotRef extends WithRaw<UniprotRecord> {
  readonly requested: string;
}

/** MD5 of an upper-case sequence, the Atlas' id of a protein. */
export const hashOfSequence = (sequence: string): string => createHash('md5').update(sequence).digest('hex');

/** The hash in the entry, otherwise that of its sequence. */
export const hashOfEntry = ({ record }: UniprotRef): string | null =>
  record.protein_hash ?? (record.sequence == null ? null : hashOfSequence(record.sequence.toUpperCase()));

export const UniprotEntry = builder.objectRef<UniprotRef>('UniprotEntry').implement({
  extensions: keyedBy('accession'),
  description: 'An entry of the UniProt knowledge base, resolved from its accession or entry name.',
  fields: (t) => ({
    accession: t.string({
      public: 'release',
      nullable: false,
      description: 'Accession, such as "P01308".',
      resolve: ({ record, requested }) => record.accession ?? requested,
    }),
    entryName: t.string({
      public: 'release',
      description: 'Entry name, such as "INS_HUMAN".',
      resolve: ({ record }) => record.entry_name,
    }),
    name: t.string({
      public: 'release',
      description: 'Name of the protein, such as "Insulin".',
      resolve: ({ record }) => record.protein_name,
    }),
    gene: t.string({
      public: 'release',
      description: 'Gene name, such as "INS".',
      resolve: ({ record }) => record.gene,
    }),
    organism: t.string({
      public: 'release',
      description: 'Organism, such as "Homo sapiens".',
      resolve: ({ record }) => record.organism,
    }),
    function: t.string({
      public: 'release',
      description: 'What the protein does, as text.',
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
      description: 'MD5 of its sequence: its id in the Atlas, if the Atlas has it.',
      resolve: hashOfEntry,
    }),
    raw: t.field({
      public: 'release',
      type: 'JSON',
      description: 'The upstream record unchanged, for keys that this schema does not have yet.',
      resolve: ({ raw }) => raw,
    }),
  }),
});
