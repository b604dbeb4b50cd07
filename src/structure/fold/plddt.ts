// The pLDDT with one value per token, whatever rows the service wrote; several of a token become
// their mean.
import { meanOf } from './chains.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import type { FindRows, RowOffsets, TokenSpan } from './rows.ts';

/** A pLDDT by token, and the same with a null between two chains where the service writes one. */
export interface TokenPlddt {
  readonly tokens: Numbers;
  readonly slots: Numbers;
}

/** The mean of the values of each token. */
const collapsed = (values: Numbers, offsets: RowOffsets): Numbers =>
  offsets.length - 1 === values.length
    ? values
    : offsets.slice(1).map((end, token) => meanOf(values.slice(offsets[token], end)));

/** Reads values with a null slot between chains. Undefined when the null slots are elsewhere. */
function withoutBreaks(
  values: Numbers,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | undefined {
  const offsets = findRows(values.length - (spans.length - 1));
  if (offsets === undefined) return undefined;
  const breaks = new Set(spans.slice(1).map(({ tokenStart }, k) => (offsets[tokenStart] ?? 0) + k));
  for (const slot of breaks) if (values[slot] !== null) return undefined;
  const tokens = collapsed(
    values.filter((_, slot) => !breaks.has(slot)),
    offsets,
  );
  const slots = spans.flatMap(({ tokenStart, tokenEnd }, k) => [
    ...(k > 0 ? [null] : []),
    ...tokens.slice(tokenStart, tokenEnd),
  ]);
  return { tokens, slots };
}

function readRows(values: Numbers, spans: readonly TokenSpan[], findRows: FindRows): TokenPlddt | undefined {
  const cut = withoutBreaks(values, spans, findRows);
  if (cut !== undefined) return cut;
  for (const list of [values, values.filter((value) => value !== null)]) {
    const offsets = findRows(list.length);
    if (offsets !== undefined) {
      const tokens = collapsed(list, offsets);
      return { tokens, slots: tokens };
    }
  }
  return undefined;
}

/**
 * The pLDDT, 0 to 1: that of the result, else that of its structure; undefined where both are there
 * and neither fits.
 */
export function plddtByToken(
  given: Numbers | undefined,
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | undefined {
  const own = complex.plddt.length === complex.sequence.length ? complex.plddt : undefined;
  const read = given && readRows(given, spans, findRows);
  if (given !== undefined && read === undefined && own === undefined) return undefined;
  const tokens = own ?? read?.tokens ?? [];
  return { tokens, slots: read?.slots ?? tokens };
}
