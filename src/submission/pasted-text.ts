// Reads what people paste as a sequence: letters in lines or numbered blocks, or a FASTA record,
// whose header may say what kind of chain it is, as in files of Boltz and Chai.
import { quote } from '../plain-text.ts';

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

/** Longer texts are not looked at: no such text is pasted by hand. */
const MAX_LOOKED_AT = 20_000;

/** A text that seems to hold more than residues. */
interface Oddity {
  readonly message: string;
  readonly hint: string;
}

/** Whether the numbers at the ends of lines count the letters, from any position on. */
function countsLetters(lines: readonly (readonly string[])[]): boolean {
  const offsets = new Set<number>();
  let letters = 0;
  for (const words of lines) {
    if (words.every((word) => NUMBER.test(word))) continue;
    const [first = '', last = ''] = [words[0], words.at(-1)];
    if (NUMBER.test(first)) offsets.add(Number(first) - letters - 1);
    for (const word of words) if (!NUMBER.test(word)) letters += word.length;
    if (NUMBER.test(last)) offsets.add(Number(last) - letters);
  }
  return offsets.size <= 1 && [...offsets].every((offset) => offset >= -1);
}

/** A word that is much shorter than another one of its line, and not its end. */
function findLabel(words: readonly string[]): string | undefined {
  const parts = words.filter((word) => !NUMBER.test(word));
  const longest = Math.max(...parts.map((part) => part.length));
  return parts.slice(0, -1).find((part) => part.length < longest / 2);
}

/** Finds a label, another sequence or marks of an alignment, which would be read as residues. */
function findOddity(body: string): Oddity | null {
  if (body.length > MAX_LOOKED_AT) return null;
  if (/[a-z]/.test(body) && /[A-Z]/.test(body))
    return {
      message: 'Capital and small letters are mixed, and all of them are read as residues.',
      hint:
        'Small letters may be inserts of an alignment, or a modification as in pS: leave them out, and give ' +
        'modifications by `modifications`. Write all residues in capital letters.',
    };
  if (!/\s/.test(body.trim())) return null;
  const lines = body.split(LINE_END).map((line) => line.trim());
  const toWords = (line: string): string[] => line.split(/\s+/);
  if (/\d/.test(body) && !countsLetters(lines.filter((line) => line !== '').map(toWords)))
    return {
      message: 'The numbers in the text do not count its letters, and are left out.',
      hint: 'Letters may be missing, or a number belongs to other text.',
    };
  if (lines.join('\n').trim().includes('\n\n'))
    return {
      message: 'A blank line stands in the text, and all of it is read as one chain.',
      hint: 'Give each sequence as a chain of its own.',
    };
  const spaced = lines.filter((line) => /\s/.test(line));
  const label = spaced.map((line) => findLabel(toWords(line))).find((word) => word !== undefined);
  if (label === undefined) return null;
  return {
    message: `${quote(label)} stands apart from the letters beside it, and is read as residues.`,
    hint: 'Leave out what names the sequence or marks its ends.',
  };
}

export interface PastedSequence {
  /** ASCII letters in upper case, without white space, numbers of blocks and a final `*`. */
  readonly sequence: string;
  /** Number of FASTA headers in the text; 2 for more than one sequence. */
  readonly headers: number;
  /** The kind of chain that the header names, such as "rna"; null when it names none. */
  readonly headerKind: string | null;
  /** A remark on text that seems to stand beside the residues; null without any. */
  readonly oddity: Oddity | null;
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
    oddity: findOddity(body),
  };
}
