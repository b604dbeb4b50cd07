// Makes members of the user's own FASTA records. Each is a cluster of its own.
import type { FastaRecord } from './fasta.ts';
import { type Member, proteinHash } from './members.ts';

const UNIPROT_HEADER =
  /^(sp|tr)\|([A-Z0-9-]+)\|(\S+)\s+(.*?)(?:\s+OS=(.*?))?(?:\s+OX=\d+)?(?:\s+GN=(\S+))?(?:\s+[A-Z]{2}=.*)?$/;

/** Structures are built for the twenty residues only. */
const BUILDABLE = /^[ACDEFGHIKLMNPQRSTVWY]+$/;

/** Members for the records whose sequence and accession are not in the universe yet. */
export function userMembers(records: readonly FastaRecord[], taken: Set<string>): Member[] {
  const members: Member[] = [];
  for (const { header, sequence } of records) {
    const hash = proteinHash(sequence);
    const [, database, accession, entryName, name, organism, gene] = UNIPROT_HEADER.exec(header) ?? [];
    const known =
      accession !== undefined && entryName !== undefined && !taken.has(accession) && !taken.has(entryName);
    if (taken.has(hash)) continue;
    taken.add(hash);
    if (known) taken.add(accession).add(entryName);
    const own = known ? accession : (header.split(/\s/)[0] ?? hash);
    members.push({
      hash,
      sequence,
      domains: [],
      source: known ? 'uniprotkb' : 'user',
      accession: own,
      uniref: `UniRef90_${own}`,
      header,
      lineage: [],
      fold: BUILDABLE.test(sequence) ? 'ready' : 'never',
      standing: 'member',
      reviewed: known && database === 'sp',
      uniprot: known
        ? { entryName, name: name ?? entryName, gene: gene ?? null, organism: organism ?? '', function: null }
        : null,
    });
  }
  return members;
}
