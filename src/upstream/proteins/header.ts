// The names in the FASTA header of a protein's record.

/** The names in the FASTA header of a record. */
export interface HeaderNames {
  readonly name?: string | undefined;
  readonly organism?: string | undefined;
  readonly gene?: string | undefined;
  /** Whether it has the form of UniProt, which leaves out only what is not known. */
  readonly isComplete: boolean;
}

/** The values of `OS=`, `GN=`, `Tax=` and the like, which may hold spaces. */
function readTags(words: readonly string[]): { before: string; tags: ReadonlyMap<string, string> } {
  const tags = new Map<string, string>();
  const before: string[] = [];
  let tag: string | undefined;
  for (const word of words) {
    const equals = /^[A-Za-z]{1,6}=/.test(word) ? word.indexOf('=') : -1;
    if (equals > 0) {
      tag = word.slice(0, equals);
      tags.set(tag, word.slice(equals + 1));
    } else if (tag === undefined) before.push(word);
    else tags.set(tag, `${tags.get(tag)} ${word}`);
  }
  return { before: before.join(' '), tags };
}

/**
 * Reads a FASTA header, whose first word is the identifier: `sp|P69905|HBA_HUMAN Hemoglobin subunit
 * alpha OS=Homo sapiens OX=9606 GN=HBA1`, `UniRef90_A0A009 Serpin n=2 Tax=Mus TaxID=10088`,
 * `UPI000002 Insulin [Homo sapiens]`.
 */
export function readHeader(header: string | null | undefined): HeaderNames {
  const { before, tags } = readTags((header ?? '').trim().split(/\s+/).slice(1));
  const bracket = before.endsWith(']') ? before.lastIndexOf('[') : -1;
  const name = (bracket < 0 ? before : before.slice(0, bracket)).trim();
  const bracketed = bracket < 0 ? undefined : before.slice(bracket + 1, -1).trim();
  return {
    name: name || undefined,
    organism: (tags.get('OS') ?? tags.get('Tax') ?? bracketed) || undefined,
    gene: tags.get('GN') || undefined,
    isComplete: tags.has('OS'),
  };
}
