// The members of the folding-result JSON. Each may be missing, and a member of the wrong type
// counts as missing; a score outside 0 to 1 is a misfit.

/** One number or null a token; null also where a number is not finite. */
export type Numbers = readonly (number | null)[];

/** A member, or why it cannot be trusted. */
export interface Checked<T> {
  readonly value: T | undefined;
  readonly misfit: string | null;
}

/** The all-atom structure. Lists are as the service wrote them; their lengths may disagree. */
export interface FoldedComplex {
  readonly id: string | undefined;
  /** Token names: MET, A, DA, ATP. */
  readonly sequence: readonly string[];
  /** Ångström, rows of three unless there is a misfit. */
  readonly atomPositions: readonly unknown[];
  readonly atomsMisfit: string | null;
  readonly atomElements: readonly unknown[];
  readonly atomNames: readonly unknown[];
  readonly atomHetero: readonly unknown[];
  /** Half-open ranges of atoms, one a token. */
  readonly tokenToAtoms: readonly unknown[];
  /** Number of the chain (or its name), one a token. */
  readonly chainId: readonly unknown[];
  /** 0 to 1, one a token. */
  readonly plddt: Numbers;
  readonly plddtMisfit: string | null;
  readonly chainLookup: Members;
  readonly entityLookup: Members;
}

export interface FoldFields {
  readonly complex: FoldedComplex | undefined;
  /** 0 to 1, with a null slot at each chain break. */
  readonly plddt: Checked<Numbers>;
  /** 0 to 1, like the other two. */
  readonly ptm: Checked<number>;
  readonly interfacePtm: Checked<number>;
  readonly pairChainsIptm: Checked<readonly unknown[]>;
  readonly entityId: readonly unknown[] | undefined;
  readonly model: string | undefined;
  readonly warnings: readonly string[];
}

export type Members = Readonly<Record<string, unknown>>;

const toFields = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;

const toList = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value : undefined;
const toNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Texts that some services write in place of a missing number. */
const NO_NUMBER = /^(?:[+-]?(?:nan|inf|infinity))?$/i;

/**
 * Whether a value is no score: outside 0 to 1, or of another type. Rounding may lead just above 1.
 */
function isOdd(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !(value >= 0 && value <= 1 + 1e-6);
  return value != null && (typeof value === 'object' || !NO_NUMBER.test(String(value)));
}

/** Says what is wrong with a result. @param path - in its JSON */
export const describeMisfit = (path: string, expected: string, seen: string): string =>
  `The upstream's folding result has changed at $.${path}: expected ${expected}, seen ${seen}.`;

/** A value of the service in a sentence. */
export const quote = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 40);

const offScale = (path: string, largest: number, seen: unknown): string =>
  describeMisfit(path, `numbers from 0 to ${largest}`, quote(seen));

/** A score on another scale says nothing of what its number means, so it is a misfit. */
function readScore(value: unknown, path: string): Checked<number> {
  return isOdd(value)
    ? { value: undefined, misfit: offScale(path, 1, value) }
    : { value: toNumber(value), misfit: null };
}

function readPairScores(value: unknown): Checked<readonly unknown[]> {
  const odd = (Array.isArray(value) ? value.flat() : [value]).find(isOdd);
  return odd === undefined
    ? { value: toList(value), misfit: null }
    : { value: undefined, misfit: offScale('pair_chains_iptm', 1, odd) };
}

/** pLDDT on 0 to 1; some services write 0 to 100. */
function readConfidences(value: unknown, path: string): Checked<Numbers> {
  const given = toList(value);
  const scale = given?.some((item) => typeof item === 'number' && item > 1.5) ? 100 : 1;
  const scaled = given?.map((item) => (typeof item === 'number' ? item / scale : item));
  const odd = scaled?.findIndex(isOdd) ?? -1;
  return odd < 0
    ? { value: scaled?.map((item) => toNumber(item) ?? null), misfit: null }
    : { value: undefined, misfit: offScale(path, scale, given?.[odd]) };
}

const isPosition = (row: unknown): boolean =>
  Array.isArray(row) && row.length === 3 && row.every((cell) => cell === null || typeof cell === 'number');

/** Why the atoms cannot be written down; null when they can, and when the result has none. */
function findAtomsMisfit(complex: Members, tokenCount: number): string | null {
  const positions = toList(complex.atom_positions) ?? [];
  const count = toList(complex.atom_names)?.length ?? positions.length;
  const path = 'complex.atom_positions';
  const odd = positions.findIndex((row) => !isPosition(row));
  if (odd >= 0) return describeMisfit(`${path}.${odd}`, 'three coordinates', quote(positions[odd]));
  if (positions.length !== count)
    return describeMisfit(path, `${count} rows of three`, `${positions.length}`);
  if (count === 0) return null;
  if (!positions.flat().some(Number.isFinite)) return describeMisfit(path, 'coordinates', 'none');
  const ranges = toList(complex.token_to_atoms) ?? [];
  const isRange = (range: unknown) =>
    Array.isArray(range) && range.length === 2 && range[0] >= 0 && range[0] <= range[1] && range[1] <= count;
  if (ranges.length === tokenCount && ranges.every(isRange)) return null;
  return describeMisfit(
    'complex.token_to_atoms',
    `a range of the ${count} atoms for each of ${tokenCount} tokens`,
    'none',
  );
}

function readComplex(value: unknown): FoldedComplex | undefined {
  const fields = toFields(value);
  if (fields === undefined) return undefined;
  const metadata = toFields(fields.metadata);
  const plddt = readConfidences(fields.plddt, 'complex.plddt');
  const sequence = (toList(fields.sequence) ?? []).map((name) => toText(name) ?? 'UNK');
  return {
    id: toText(fields.id),
    sequence,
    atomPositions: toList(fields.atom_positions) ?? [],
    atomsMisfit: findAtomsMisfit(fields, sequence.length),
    atomElements: toList(fields.atom_elements) ?? [],
    atomNames: toList(fields.atom_names) ?? [],
    atomHetero: toList(fields.atom_hetero) ?? [],
    tokenToAtoms: toList(fields.token_to_atoms) ?? [],
    chainId: toList(fields.chain_id) ?? [],
    plddt: plddt.value ?? [],
    plddtMisfit: plddt.misfit,
    chainLookup: toFields(metadata?.chain_lookup) ?? {},
    entityLookup: toFields(metadata?.entity_lookup) ?? {},
  };
}

/** Warnings stand beside the result, inside it, or in both. */
function readWarnings(...places: unknown[]): string[] {
  const all = places.flatMap((place) => (typeof place === 'string' ? [place] : (toList(place) ?? [])));
  return [...new Set(all.filter((warning): warning is string => typeof warning === 'string'))].filter(
    (warning) => warning !== '',
  );
}

/** The members of a result: in the value itself, or in the `data` of an envelope. */
export function readMembers(value: unknown): Members {
  const outer = toFields(value) ?? {};
  const inner = toFields(outer.data);
  return inner !== undefined && outer.complex === undefined ? inner : outer;
}

const PREDICTED =
  /^(?:complex|plddt|ptm|interface_ptm|pair_chains_iptm|pae|output_embedding_(?:sequence|pair_pooled))$/;

/**
 * Whether a value is a folding result, and not an error in its place: it has a predicted member.
 */
export const isFoldingResult = (value: unknown): boolean =>
  Object.keys(readMembers(value)).some((name) => PREDICTED.test(name));

/** Reads the members but the matrices, with or without an envelope around them. Never throws. */
export function readFields(value: unknown): FoldFields {
  const fields = readMembers(value);
  return {
    complex: readComplex(fields.complex),
    plddt: readConfidences(fields.plddt, 'plddt'),
    ptm: readScore(fields.ptm, 'ptm'),
    interfacePtm: readScore(fields.interface_ptm, 'interface_ptm'),
    pairChainsIptm: readPairScores(fields.pair_chains_iptm),
    entityId: toList(fields.entity_id),
    model: toText(fields.model),
    warnings: readWarnings(fields.warning_messages, toFields(value)?.warning_messages),
  };
}
