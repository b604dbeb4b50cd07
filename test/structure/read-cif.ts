// A strict reader of CIF 1.1 for the tests: it throws where a tolerant one would guess. It is
// independent of the writer.

type Token = { readonly kind: 'word' | 'text'; readonly value: string };

function* tokens(cif: string): Generator<Token> {
  if (/[^\n\t\x20-\x7e]/.test(cif)) throw new Error('not ASCII');
  let at = 0;
  while (at < cif.length) {
    const rest = cif.slice(at, at + 4096);
    const space = /^(?:\s+|#[^\n]*)/.exec(rest);
    const lineStart = at === 0 || cif[at - 1] === '\n';
    if (lineStart && cif[at] === ';') {
      const end = cif.indexOf('\n;', at);
      if (end === -1) throw new Error('text field without end');
      yield { kind: 'text', value: cif.slice(at + 1, end) };
      at = end + 2;
      if (at < cif.length && !/\s/.test(cif[at] ?? '')) throw new Error('no space behind a text field');
    } else if (space !== null) at += space[0].length;
    else if (cif[at] === "'" || cif[at] === '"') {
      const quote = cif[at] ?? '';
      let end = at + 1;
      while (!(cif[end] === quote && (end + 1 >= cif.length || /\s/.test(cif[end + 1] ?? '')))) {
        if (end >= cif.length || cif[end] === '\n') throw new Error('quote without end');
        end += 1;
      }
      yield { kind: 'text', value: cif.slice(at + 1, end) };
      at = end + 1;
    } else {
      const word = /^\S+/.exec(rest)?.[0] ?? '';
      if (/^[$[\]]/.test(word)) throw new Error(`reserved: ${word}`);
      yield { kind: 'word', value: word };
      at += word.length;
    }
  }
}

/** Rows by category; every row has all items of its category. */
export function readCif(cif: string): Map<string, Record<string, string>[]> {
  const all = [...tokens(cif)];
  const tables = new Map<string, Record<string, string>[]>();
  const isName = (token: Token | undefined) => token?.kind === 'word' && token.value.startsWith('_');
  const isReserved = (token: Token | undefined) =>
    token?.kind === 'word' && /^(?:data_|loop_|save_|stop_|global_)/i.test(token.value);
  const split = (token: Token | undefined): [string, string] => {
    const [category = '', item = ''] = (token?.value ?? '').slice(1).split('.');
    if (category === '' || item === '') throw new Error('no item name');
    return [category, item];
  };
  if (!/^data_\S+$/.test(all[0]?.value ?? '')) throw new Error('no data block');
  let at = 1;
  while (at < all.length) {
    if (all[at]?.kind === 'word' && all[at]?.value === 'loop_') {
      at += 1;
      const names: [string, string][] = [];
      while (isName(all[at])) names.push(split(all[at++]));
      const category = names[0]?.[0] ?? '';
      if (names.some(([other]) => other !== category) || tables.has(category))
        throw new Error(`loop ${category}`);
      const values: string[] = [];
      while (at < all.length && !isName(all[at]) && !isReserved(all[at])) values.push(all[at++]?.value ?? '');
      if (values.length === 0 || values.length % names.length !== 0)
        throw new Error(`ragged loop ${category}`);
      const rows: Record<string, string>[] = [];
      for (let k = 0; k < values.length; k += names.length) {
        rows.push(Object.fromEntries(names.map(([, item], n) => [item, values[k + n] ?? ''])));
      }
      tables.set(category, rows);
    } else if (isName(all[at])) {
      const [category, item] = split(all[at]);
      const value = all[at + 1];
      if (value === undefined || isName(value) || isReserved(value))
        throw new Error(`no value for ${category}.${item}`);
      const row = tables.get(category)?.[0] ?? {};
      if (item in row) throw new Error(`twice: ${category}.${item}`);
      tables.set(category, [{ ...row, [item]: value.value }]);
      at += 2;
    } else throw new Error(`unexpected ${all[at]?.value}`);
  }
  return tables;
}
