// Files to save: those of the gateway that need the token, and tables that the page makes itself.
import { useState } from 'react';
import { headersFor, useSession } from './session.tsx';

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file that needs the token cannot be an ordinary link: a link sends no headers. */
export function Download({ url, name, what }: { url: string; name: string; what: string }) {
  const { token } = useSession();
  const [problem, setProblem] = useState('');
  const load = async () => {
    const answer = await fetch(url, { headers: headersFor(token) });
    if (answer.ok) save(await answer.blob(), name);
    setProblem(answer.ok ? '' : `It could not be downloaded (HTTP ${answer.status}).`);
  };
  return (
    <>
      <button type="button" onClick={() => void load().catch((error: Error) => setProblem(error.message))}>
        ↓ {what}
      </button>
      {problem}
    </>
  );
}

/** A spreadsheet would run a text that begins so as a formula, also behind white space. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;
/** Marks that change the direction of the text behind them. */
const BIDI_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const toCell = (value: string | number | null | undefined): string => {
  const text = String(value ?? '')
    .replace(BIDI_MARKS, '')
    .replace(/[\s\p{Cc}]+/gu, ' ');
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return safe.includes('"') ? `"${safe.replaceAll('"', '""')}"` : safe;
};

interface SaveTableProps<Row> {
  name: string;
  columns: readonly (readonly [name: string, of: (row: Row) => string | number | null | undefined])[];
  rows: readonly Row[];
}

/** Saves rows with tabs between the columns. */
export function SaveTable<Row>({ name, columns, rows }: SaveTableProps<Row>) {
  const lines = () => [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, of]) => toCell(of(row)))),
  ];
  const text = () =>
    lines()
      .map((cells) => `${cells.join('\t')}\n`)
      .join('');
  return (
    <button
      type="button"
      onClick={() => save(new Blob([text()], { type: 'text/tab-separated-values' }), name)}
    >
      ↓ Table, TSV
    </button>
  );
}
