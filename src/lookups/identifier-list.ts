// Lists of identifiers as text: one or several on a line between white space, commas or semicolons,
// `#` comments, and FASTA records, each of which is one identifier.

/** Lines of a sequence, also where it has gaps, which `lookup` refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;

export interface IdentifierReader {
  /** The identifiers that end with a line. */
  read(line: string): string[];
  /** The identifier that ends with the list. */
  end(): string[];
}

/** @param maxWords - identifiers of one line that are read at most; all when absent */
export function createIdentifierReader(maxWords?: number): IdentifierReader {
  let record: string[] = [];
  const end = (): string[] => (record.length === 0 ? [] : [record.splice(0).join('\n')]);
  return {
    read(line) {
      const text = line.trim();
      // Blank lines may stand anywhere in a record.
      if (record.length > 0 && (text === '' || RESIDUES.test(text))) {
        if (text !== '') record.push(text);
        return [];
      }
      const ended = end();
      if (text.startsWith('>')) {
        record = [text];
        return ended;
      }
      const words = text.replace(/#.*/, '').split(/[\s,;]+/, maxWords);
      return [...ended, ...words.filter((word) => word !== '')];
    },
    end,
  };
}
