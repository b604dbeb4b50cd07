// The members of the folding-result JSON. Each may be missing, and a member of the wrong type
// counts as missing; a score outside 0 to 1 is a misfit.

import { findAtomsMisfit } from './atom-rules.ts';
import { describeMisfit, quote } from './misfit.ts';

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
  readonly tokensMisfit: string | null;
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
  /** Why there is none; null where it is there or missing. */
  readonly complexMisfit: string | null;
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
  if (value != null && !Array.isArray(value))
    return { value: undefined, misfit: describeMisfit(path, 'a list of numbers', quote(value)) };
  const given = toList(value);
  const scale = given?.some((item) => typeof item === 'number' && item > 1.5) ? 100 : 1;
  const scaled = given?.map((item) => (typeof item === 'number' ? item / scale : item));
  const odd = scaled?.findIndex(isOdd) ?? -1;
  return odd < 0
    ? { value: scaled?.map((item) => toNumber(item) ?? null), misfit: null }
    : { value: undefined, misfit: offScale(path, scale, given?.[odd]) };
}

function readComplex(value: unknown): FoldedComplex | undefined {
  const fields = toFields(value);
  if (fields === undefined) return undefined;
  const metadata = toFields(fields.metadata);
  const plddt = readConfidences(fields.plddt, 'complex.plddt');
  const names = toList(fields.sequence) ?? [];
  const unnamed = names.findIndex((name) => typeof name !== 'string' || name.trim() === '');
  const lists = {
    tokenCount: names.length,
    positions: toList(fields.atom_positions) ?? [],
    names: toList(fields.atom_names) ?? [],
    elements: toList(fields.atom_elements) ?? [],
    hetero: toList(fields.atom_hetero) ?? [],
    ranges: toList(fields.token_to_atoms) ?? [],
  };
  return {
    id: toText(fields.id),
    sequence: names.map((name) => toText(name) ?? 'UNK'),
    tokensMisfit:
      unnamed < 0
        ? null
        : describeMisfit(`complex.sequence.${unnamed}`, 'the name of a token', quote(names[unnamed])),
    atomPositions: lists.positions,
    atomsMisfit: findAtomsMisfit(lists),
    atomElements: lists.elements,
    atomNames: lists.names,
    atomHetero: lists.hetero,
    tokenToAtoms: lists.ranges,
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
  const complex = readComplex(fields.complex);
  return {
    complex,
    complexMisfit:
      complex === undefined && fields.complex != null
        ? describeMisfit('complex', 'a structure', quote(fields.complex))
        : null,
    plddt: readConfidences(fields.plddt, 'plddt'),
    ptm: readScore(fields.ptm, 'ptm'),
    interfacePtm: readScore(fields.interface_ptm, 'interface_ptm'),
    pairChainsIptm: readPairScores(fields.pair_chains_iptm),
    entityId: toList(fields.entity_id),
    model: toText(fields.model),
    warnings: readWarnings(fields.warning_messages, toFields(value)?.warning_messages),
  };
}
