// Tables of proteins have the same columns in the same order, whichever program writes them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROTEIN_COLUMNS } from '../../src/lookups/protein-columns.ts';

describe('the tables of proteins', () => {
  const read = (path: string) =>
    readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  const names = PROTEIN_COLUMNS.map(({ name }) => name);
  const quoted = (text: string) => [...text.matchAll(/['"]([a-z_]+)['"]/g)].map(([, name]) => name);
  const client = read('clients/python/src/foldatlas/client.py');
  const tables: [string, (string | undefined)[]][] = [
    [
      'of the front-end example',
      [...read('examples/frontend/src/lookup-page.tsx').matchAll(/^ {2}\['([a-z_]+)', /gm)].map(
        ([, name]) => name,
      ),
    ],
    [
      'of the Python client',
      [
        ...quoted(
          /^LOOKUP_COLUMNS = \(([\s\S]*?)^\)/m
            .exec(client)?.[1]
            ?.replace('*CLUSTER_COLUMNS', /^CLUSTER_COLUMNS = (.*)$/m.exec(client)?.[1] ?? '') ?? '',
        ),
      ],
    ],
  ];

  it.each(tables)('%s have the common columns in the common order', (_, columns) => {
    expect(columns.length).toBeGreaterThan(10);
    expect(columns).toEqual(names.filter((name) => columns.includes(name)));
    for (const name of ['requested', 'status', 'hash', 'problem']) expect(columns).toContain(name);
  });
});
