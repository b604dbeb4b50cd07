// A UniProt entry as the service resolves it.

import { createHash } from 'node:crypto';
import type { WithRaw } from '../upstream/http/validate-response.ts';
import type { UniprotRecord } from '../upstream/wire.ts';
import { builder, keyedBy } from './builder.ts';
import { publicNonNull, publicNullable } from './field-options.ts';
import { LARGE_VALUE } from './query-cost.ts';

/** A resolved entry; `requested` is the identifier in the request. */
export interface UniprotRef extends WithRaw<UniprotRecord> {
  readonly requested: string;
}

/** MD5 of an upper-case sequence, the Atlas' id of a protein. */
export const hashSequence = (sequence: string): string => createHash('md5').update(sequence).digest('hex');

/** The hash of an entry's protein; null when the entry has neither hash nor sequence. */
export const readEntryHash = ({ record }: UniprotRef): string | null =>
  record.protein_hash ?? (record.sequence == null ? null : hashSequence(record.sequence));

const exposeRecord = (
  key: 'entry_name' | 'protein_name' | 'gene' | 'organism' | 'function' | 'sequence',
  description: string,
) => ({ ...publicNullable('release', description), resolve: ({ record }: UniprotRef) => record[key] });

export const UniprotEntry = builder.objectRef<UniprotRef>('UniprotEntry');

const readAccession = ({ record, requested }: UniprotRef): string => record.accession ?? requested;

builder.node(UniprotEntry, {
  extensions: keyedBy('accession', 'id'),
  id: { public: 'release', resolve: readAccession },
  description: 'An entry of the UniProt knowledge base, resolved from its accession or entry name.',
  fields: (t) => ({
    accession: t.string({
      ...publicNonNull('release', 'Accession, such as "P01308".'),
      resolve: readAccession,
    }),
    entryName: t.string(exposeRecord('entry_name', 'Entry name, such as "INS_HUMAN".')),
    name: t.string(exposeRecord('protein_name', 'Name of the protein, such as "Insulin".')),
    gene: t.string(exposeRecord('gene', 'Gene name, such as "INS".')),
    organism: t.string(exposeRecord('organism', 'Organism, such as "Homo sapiens".')),
    function: t.string(exposeRecord('function', 'What the protein does, as text.')),
    sequence: t.string(exposeRecord('sequence', 'Amino acids in one-letter codes.')),
    length: t.int({
      ...publicNullable('release', 'Number of residues, such as 110.'),
      resolve: ({ record }) => record.sequence_length ?? record.sequence?.length,
    }),
    proteinHash: t.field({
      ...publicNullable('release', 'MD5 of its sequence: its id in the Atlas, if the Atlas has it.'),
      type: 'ProteinHash',
      resolve: readEntryHash,
    }),
    raw: t.field({
      public: 'release',
      cost: LARGE_VALUE,
      type: 'JSON',
      description: 'The upstream record unchanged, for keys that this schema does not have yet.',
      resolve: ({ raw }) => raw,
    }),
  }),
});
