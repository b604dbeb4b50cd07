/**
 * From the inputs to chains: one for each copy, with an id of its own.
 */
import type { FoldAllAtomInput, LigandInput, PolymerInput } from './input.ts';

export interface ChainPlan {
  id: string;
  /** Index of the input it is a copy of. */
  entity: number;
  input: PolymerInput | LigandInput;
}

/** 0 is A, 25 is Z, 26 is AA. */
function chainName(index: number): string {
  let name = '';
  for (let k = index; k >= 0; k = Math.floor(k / 26) - 1) name = String.fromCharCode(65 + (k % 26)) + name;
  return name;
}

/**
 * One plan a chain, in input order; inputs without an id get the first letters that are free.
 */
export function planChains(input: FoldAllAtomInput): ChainPlan[] {
  const given = input.sequences.map(({ id }) => (id === null || id === undefined ? [] : [id].flat()));
  const used = new Set(given.flat());
  let tried = 0;
  const unused = (): string => {
    let name = chainName(tried++);
    while (used.has(name)) name = chainName(tried++);
    return name;
  };
  return input.sequences.flatMap((sequence, entity) => {
    const ids = given[entity] ?? [];
    return (ids.length > 0 ? ids : [unused()]).map((id) => ({ id, entity, input: sequence }));
  });
}
