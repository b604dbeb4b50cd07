// The members of the folding-result JSON behind a finished task's signed URL, read leniently: every
// one may be missing, and one of the wrong type counts as missing, scores aside.

/** One number or null a token; null also where a number is not finite. */
export type Numbers = readonly (number | null)[];

/** The all-atom structure. */
export type FoldedComplex = NonNullable<ReturnType<typeof readComplex>>;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

const list = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value : undefined;
const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What stands for no number, as text. */
const NO_NUMBER = /^(?:[+-]?(?:nan|inf|infinity))?$/i;

/** Whether it is no score: outside 0 to 1, or of another type. Scores may be above 1 by rounding. */
function isOdd(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !(value >= 0 && value <= 1 + 1e-6);
  return value != null && (typeof value === 'object' || !NO_NUMBER.test(String(value)));
}

/** What is wrong with a result. @param path - in its JSON */
export const changedAt = (path: string, expected: string, seen: string): string =>
  `The upstream's folding result has changed at $.${path}: expected ${expected}, seen ${seen}.`;

const quoted = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 40);

const notIn = (path: string, most: number, seen: unknown): string =>
  changedAt(path, `numbers from 0 to ${most}`, quoted(seen));

/**
 * A score, or why it cannot be trusted: another scale says nothing of what its number means.
 *
 * @param read - takes the member when it is on the scale
 */
function score<T>(fields: Fields, name: string, read: (value: unknown) => T | undefined) {
  const value = fields[name];
  const odd = (read === list && Array.isArray(value) ? value.flat() : [value]).find(isOdd);
  return odd === undefined
    ? { value: read(value), misfit: null }
    : { value: undefined, misfit: notIn(name, 1, odd) };
}

/** pLDDT on 0 to 1, or why it cannot be trusted. */
function confidences(value: unknown, path: string): { value: Numbers | undefined; misfit: string | null } {
  const given = list(value);
  // Some services write 0 to 100.
  const scale = given?.some((item) => typeof item === 'number' && item > 1.5) ? 100 : 1;
  const scaled = given?.map((item) => (typeof item === 'number' ? item / scale : item));
  const odd = scaled?.findIndex(isOdd) ?? -1;
  return odd < 0
    ? { value: scaled?.map((item) => number(item) ?? null), misfit: null }
    : { value: undefined, misfit: notIn(path, scale, given?.[odd]) };
}

const isCoordinate = (value: unknown): boolean => value === null || typeof value === 'number';

/** Why the atoms cannot be written down; null where they can, and where the result has none. */
function atomsMisfit({ atom_positions, atom_names, token_to_atoms }: Fields, tokens: number): string | null {
  const positions = list(atom_positions) ?? [];
  const count = list(atom_names)?.length ?? positions.length;
  const path = 'complex.atom_positions';
  const odd = positions.findIndex(
    (row) => !Array.isArray(row) || row.length !== 3 || !row.every(isCoordinate),
  );
  if (odd >= 0) return changedAt(`${path}.${odd}`, 'three coordinates', quoted(positions[odd]));
  if (positions.length !== count) return changedAt(path, `${count} rows of three`, `${positions.length}`);
  if (count === 0) return null;
  if (!positions.flat().some(Number.isFinite)) return changedAt(path, 'coordinates', 'none');
  const ranges = list(token_to_atoms) ?? [];
  const isRange = (range: unknown) =>
    Array.isArray(range) && range.length === 2 && range[0] >= 0 && range[0] <= range[1] && range[1] <= count;
  if (ranges.length === tokens && ranges.every(isRange)) return null;
  return changedAt(
    'complex.token_to_atoms',
    `a range of the ${count} atoms for each of ${tokens} tokens`,
    'none',
  );
}

/** Lists are as the upstream wrote them; their lengths may disagree. */
function readComplex(value: unknown) {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const metadata = fieldsOf(fields.metadata);
  const plddt = confidences(fields.plddt, 'complex.plddt');
  const sequence = (list(fields.sequence) ?? []).map((name) => text(name) ?? 'UNK');
  return {
    id: text(fields.id),
    /** Token names: MET, A, DA, ATP. */
    sequence,
    /** Ångström, rows of three unless there is a misfit. */
    atomPositions: list(fields.atom_positions) ?? [],
    atomsMisfit: atomsMisfit(fields, sequence.length),
    atomElements: list(fields.atom_elements) ?? [],
    atomNames: list(fields.atom_names) ?? [],
    atomHetero: list(fields.atom_hetero) ?? [],
    /** Half-open ranges of atoms, one a token. */
    tokenToAtoms: list(fields.token_to_atoms) ?? [],
    /** Number of the chain (or its name), one a token. */
    chainId: list(fields.chain_id) ?? [],
    /** 0 to 1, one a token. */
    plddt: plddt.value ?? [],
    plddtMisfit: plddt.misfit,
    chainLookup: fieldsOf(metadata?.chain_lookup) ?? {},
    entityLookup: fieldsOf(metadata?.entity_lookup) ?? {},
  };
}

/** Warnings stand beside the result, inside it, or in both. */
function warningsOf(...places: unknown[]): string[] {
  const all = places.flatMap((place) => (typeof place === 'string' ? [place] : (list(place) ?? [])));
  return [...new Set(all.filter((warning) => typeof warning === 'string' && warning !== ''))] as string[];
}

/** Where the members of a result are: in the value itself, or in the `data` of an envelope. */
export function fieldsOfResult(value: unknown): Fields {
  const outer = fieldsOf(value) ?? {};
  const inner = fieldsOf(outer.data);
  return inner !== undefined && outer.complex === undefined ? inner : outer;
}

const PREDICTED =
  /^(?:complex|plddt|ptm|interface_ptm|pair_chains_iptm|pae|output_embedding_(?:sequence|pair_pooled))$/;

/** Whether a value is a folding result, and not an error in its place: it has a member that is predicted. */
export const isFoldingResult = (value: unknown): boolean =>
  Object.keys(fieldsOfResult(value)).some((name) => PREDICTED.test(name));

/** Reads the members, with or without an envelope around them. Never throws. */
export function readFields(value: unknown) {
  const fields = fieldsOfResult(value);
  return {
    complex: readComplex(fields.complex),
    /** 0 to 1, with a null slot at each chain break. */
    plddt: confidences(fields.plddt, 'plddt'),
    /** 0 to 1, like the other two. */
    ptm: score(fields, 'ptm', number),
    interfacePtm: score(fields, 'interface_ptm', number),
    pairChainsIptm: score(fields, 'pair_chains_iptm', list),
    /** Ångström. */
    pae: list(fields.pae),
    embeddingSequence: list(fields.output_embedding_sequence),
    embeddingPairPooled: list(fields.output_embedding_pair_pooled),
    entityId: list(fields.entity_id),
    model: text(fields.model),
    created: text(fields.created),
    tokensUsed: number(fields.tokens_used),
    warnings: warningsOf(fields.warning_messages, fieldsOf(value)?.warning_messages),
  };
}
