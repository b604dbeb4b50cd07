// Cells of tab-separated tables: none breaks its row, none is run as a formula, numbers stay numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportTable, TABLE_COLUMNS, tableRow } from '../../src/lookups/export-row.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const cellOf = (value: string | number | null): string => tableRow([value]).slice(0, -1);

describe('a cell of a table', () => {
  it('is never run as a formula by a spreadsheet program, and numbers stay numbers', () => {
    const formulas = ['=1+1', '+cmd', '-cmd', '-1+cmd|x!A1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '-', '--1'];
    for (const text of formulas) expect(cellOf(text)).toBe(`'${text.replace(/[\t\r]/g, ' ')}`);
    for (const text of ['-1.5', '+3', '-2e-7', '0', 'a-b', 'x=1', '1:2 3:4']) expect(cellOf(text)).toBe(text);
    expect(cellOf(-1.5)).toBe('-1.5');
    expect(cellOf(null)).toBe('');
  });

  it('never breaks its row, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 6 }), (cells) => {
        const row = tableRow(cells);
        expect(row.endsWith('\n')).toBe(true);
        expect(row.slice(0, -1)).not.toMatch(/[\r\n]/);
        expect(row.split('\t')).toHaveLength(cells.length);
      }),
    );
  });

  it('with quotes is read as it was by readers of tables, who take a quote for the beginning of a longer text', () => {
    expect(cellOf('"Walker A" loop')).toBe('"""Walker A"" loop"');
    expect(cellOf('12" helix; "three')).toBe('"12"" helix; ""three"');
    expect(cellOf('="x"')).toBe('"\'=""x"""');
    expect(cellOf("3'-5' exonuclease")).toBe("3'-5' exonuclease");
  });

  it('is made in one place', () => {
    const writers = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && readFileSync(join(SRC, file), 'utf8').includes("join('\\t')"),
    );
    expect(writers).toEqual(['lookups/export-row.ts']);
  });
});

describe('the tables of proteins', () => {
  const read = (path: string) =>
    readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  const all = { structure: true, cluster: true, sequence: true, proteinFeatures: true };
  const quoted = (text: string) => [...text.matchAll(/['"]([a-z_]+)['"]/g)].map(([, name]) => name);
  const tables: [string, (string | undefined)[]][] = [
    [
      'of bulk look-ups',
      exportTable({ ...all, residueFeatures: true, top: 10 })
        .header.trimEnd()
        .split('\t'),
    ],
    [
      'of the front-end example',
      [...read('examples/frontend/src/lookup-page.tsx').matchAll(/^ {2}\['([a-z_]+)', /gm)].map(
        ([, name]) => name,
      ),
    ],
    [
      'of the Python client',
      [
        ...['requested', 'status'],
        ...quoted(/^OWN = (.*)$/m.exec(read('examples/notebook/foldatlas.py'))?.[1] ?? ''),
        'mean_plddt',
        ...['representative', 'name', 'size', 'percent_characterized'].map((name) => `cluster_${name}`),
        'problem',
      ],
    ],
  ];

  it.each(tables)('%s have the common columns in the common order', (_, columns) => {
    expect(columns.length).toBeGreaterThan(10);
    expect(columns).toEqual(TABLE_COLUMNS.filter((name) => columns.includes(name)));
    for (const name of ['requested', 'status', 'hash', 'problem']) expect(columns).toContain(name);
  });
});
