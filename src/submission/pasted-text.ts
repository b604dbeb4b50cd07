// Reads what people paste as a sequence: letters in lines or numbered blocks, or a FASTA record,
// whose header may say what kind of chain it is, as in files of Boltz and Chai.

const LINE_END = /\r\n?|\n/;
const NUMBER = /^\d{1,6}$/;
/** Kinds in headers: `>A|protein` (Boltz), `>protein|name=A` (Chai), `>aptamer|rna`. */
const KIND = /^(?:protein|rna|dna|ccd|smiles|ligand|glycan)$/;

/** One FASTA record, or text without a header. */
export interface FastaText {
  /** Null for text without a header. */
  readonly header: string | null;
  readonly body: string;
}

/** Takes the header line off, if there is one. */
export function splitHeader(text: string): FastaText {
  const start = text.trimStart();
  if (!start.startsWith('>')) return { header: null, body: text };
  const end = start.search(LINE_END);
  return end < 0 ? { header: start, body: '' } : { header: start.slice(0, end), body: start.slice(end) };
}

/** The kind of chain that a header names, in lower case; null when it names none. */
function findKind(header: string | null): string | null {
  const fields = header?.slice(1).toLowerCase().split('|') ?? [];
  const candidates = [fields[1], fields[0], fields.at(-1)].map((field) => field?.trim() ?? '');
  return candidates.find((field) => KIND.test(field)) ?? null;
}

/**
 * A text without white space. A loop over the codes: a regular expression takes 30 times as long
 * where there is white space behind each letter.
 */
export function withoutWhiteSpace(text: string): string {
  if (!/\s/.test(text)) return text;
  const bytes = Buffer.from(text, 'utf16le');
  let end = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    const low = bytes[at] ?? 0;
    const high = bytes[at + 1] ?? 0;
    const isSpace =
      high === 0 && low < 0x80
        ? low === 32 || (low > 8 && low < 14)
        : /\s/.test(String.fromCharCode(high * 256 + low));
    if (isSpace) continue;
    bytes[end] = low;
    bytes[end + 1] = high;
    end += 2;
  }
  return bytes.toString('utf16le', 0, end);
}

/** A line without the numbers at its ends, or above the letters of the next line. */
function withoutNumbers(line: string): string {
  const words = line.trim().split(/\s+/);
  if (words.every((word) => NUMBER.test(word))) return '';
  const first = NUMBER.test(words[0] ?? '') ? 1 : 0;
  const last = NUMBER.test(words.at(-1) ?? '') ? -1 : words.length;
  return words.slice(first, last).join('');
}

const toUpperCase = (text: string): string =>
  /[^ -~]/.test(text) ? text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : text.toUpperCase();

export interface PastedSequence {
  /** ASCII letters in upper case, without white space, numbers of blocks and a final `*`. */
  readonly sequence: string;
  /** Number of FASTA headers in the text; 2 for more than one sequence. */
  readonly headers: number;
  /** The kind of chain that the header names, such as "rna"; null when it names none. */
  readonly headerKind: string | null;
}

export function readPastedSequence(text: string): PastedSequence {
  const { header, body } = splitHeader(text);
  // Text before a header is a sequence of its own.
  const headers = /[\r\n]>/.test(body) ? 2 : header === null ? 0 : 1;
  const isNumbered = /\d/.test(body) && /[A-Za-z]/.test(body);
  const letters = isNumbered ? body.split(LINE_END).map(withoutNumbers).join('') : withoutWhiteSpace(body);
  const sequence = toUpperCase(letters);
  return {
    sequence: sequence.endsWith('*') ? sequence.slice(0, -1) : sequence,
    headers,
    headerKind: findKind(header),
  };
}
