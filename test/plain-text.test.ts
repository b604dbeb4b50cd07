// Text of others in tables and on terminals: nothing in it controls the terminal, breaks a row or
// runs as a formula.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText, tableRow } from '../src/plain-text.ts';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const toCell = (value: string | number | null): string => tableRow([value]).slice(0, -1);

/** Any text, with what terminals and spreadsheet programs obey in it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ...[
          '\x1b[31m',
          '\x1b]0;title\x07',
          '\x1b]8;;http://x\x1b\\',
          '\x9b2J',
          '\x1b',
          '[',
          ']',
          '\r',
          '\n',
          '\t',
        ],
        ...['\u202e', '\u2066', '\u200f', '\u061c', '\u2028', '\x85', '\x7f', '\0'],
        ...['=', '+', '-', '@', '＝', '＋', '－', '＠', ' ', '"', '1', 'cmd', '蛋白'],
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('plain text', () => {
  it('controls no terminal and stays in its line, whatever is in it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const plain = plainText(text);
        expect(plain).not.toMatch(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
        expect(plainText(plain)).toBe(plain);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps the letters of all scripts, joiners too', () => {
    for (const text of ['蛋白一', 'αβγ', 'می\u200cخواهم', '👩\u200d🔬', "3'-5' exonuclease", 'a  b'])
      expect(plainText(text)).toBe(text);
    expect(plainText('a\u{e0041}b\u200bc\u2060d\ufeffe\u00adf\u{e0101}g\u3164h\u180ei')).toBe('abcdefghi');
    expect(plainText(`a${'\u200d\u200c'.repeat(50)}b`)).toBe('a\u200d\u200cb');
    expect(plainText('\u2764\ufe0f\u200d\u{1f525}')).toBe('\u2764\ufe0f\u200d\u{1f525}');
    expect(plainText('\x1b[31mred\x1b[0m\x07 \u202eevil')).toBe('red evil');
  });
});

describe('a cell of a table', () => {
  it('is never run as a formula by a spreadsheet program, and numbers stay numbers', () => {
    const formulas = ['=1+1', '+cmd', '-cmd', '-1+cmd|x!A1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '-', '--1'];
    for (const text of formulas) expect(toCell(text)).toBe(`'${text.replace(/[\t\r]/g, ' ')}`);
    for (const text of ['-1.5', '+3', '-2e-7', '0', 'a-b', 'x=1', '1:2 3:4']) expect(toCell(text)).toBe(text);
    for (const text of ['＝1+1', '＋cmd', '－1', '＠SUM(A1)', '\u202e=1', '\x1b[31m=1', '\x00＝1'])
      expect(toCell(text)).toMatch(/^'/);
    expect(toCell(-1.5)).toBe('-1.5');
    expect(toCell(null)).toBe('');
  });

  it('never breaks its row and never begins a formula, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 6 }), (cells) => {
        const row = tableRow(cells);
        expect(row.endsWith('\n')).toBe(true);
        expect(row.slice(0, -1)).not.toMatch(/[\r\n]/);
        const written = row.slice(0, -1).split('\t');
        expect(written).toHaveLength(cells.length);
        for (const cell of written)
          expect(cell).not.toMatch(/^"?\s*(?:[=@＝＋－＠]|[+-](?!\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$))/);
      }),
      { numRuns: 1000 },
    );
  });

  it('is read with its quotes by readers of tables, who take a quote for the beginning of a longer text', () => {
    expect(toCell('"Walker A" loop')).toBe('"""Walker A"" loop"');
    expect(toCell('12" helix; "three')).toBe('"12"" helix; ""three"');
    expect(toCell('="x"')).toBe('"\'=""x"""');
    expect(toCell("3'-5' exonuclease")).toBe("3'-5' exonuclease");
  });

  it('is made in one place', () => {
    const writers = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && readFileSync(join(SRC, file), 'utf8').includes("join('\\t')"),
    );
    expect(writers).toEqual(['plain-text.ts']);
  });
});
