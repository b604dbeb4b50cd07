// Parses the bytes of a folding result: the PAE apart, so that its million numbers never become
// lists.
import { randomUUID } from 'node:crypto';
import { fieldsOfResult } from '../../structure/fold/fields.ts';
import { listsOf, type Matrix } from '../../structure/fold/matrix.ts';
import { type FoldingResult, readFoldingResult } from '../../structure/fold/result.ts';
import { extractMatrix } from '../json/extract-matrix.ts';
import { parseLenient } from '../json/lenient-json.ts';
import { fromWire, namesSeen, type WireMapping } from '../renames.ts';

const PAE = new Set(['pae']);
/** Stands where the matrix was; no JSON that comes here holds it. */
const MARK = randomUUID();

const parsed = (bytes: Uint8Array, mapping: WireMapping | undefined): unknown =>
  fromWire(mapping, 'result', parseLenient(new TextDecoder().decode(bytes)));

/** @returns undefined when the rest is no JSON, or the matrix was not where a result has its PAE */
function withPae(rest: Uint8Array, pae: Matrix, mapping: WireMapping | undefined): FoldingResult | undefined {
  let value: unknown;
  try {
    value = parsed(rest, mapping);
  } catch {
    return undefined;
  }
  const fields = fieldsOfResult(value);
  if (fields.pae !== MARK) return undefined;
  // A function, which makes lists of the raw value. A getter would hold its scope until V8's next
  // full GC.
  return readFoldingResult(value, pae, () => {
    const whole = { ...fields, pae: listsOf(pae) };
    return fields === value ? whole : { ...Object(value), data: whole };
  });
}

/**
 * Reads the JSON of a folding result.
 *
 * @param mapping - names that the deployment uses instead of those of the contract
 * @throws JsonError
 */
export function readFold(bytes: Uint8Array, mapping: WireMapping | undefined): FoldingResult {
  for (const name of namesSeen(mapping, 'result', PAE)) {
    const lifted = extractMatrix(bytes, name, MARK);
    const result = lifted && withPae(lifted.rest, lifted.matrix, mapping);
    if (result !== undefined) return result;
  }
  return readFoldingResult(parsed(bytes, mapping));
}
