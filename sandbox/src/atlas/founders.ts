// Plans the families of a universe, each by its founder: those of the reference proteins, families
// assembled from library domains, and dark ones without any. grow.ts makes the members from a plan.
import { alignTo } from './align.ts';
import { type Ancestor, type DomainHit, drawPace } from './evolve.ts';
import { inventSequence } from './invent.ts';
import type { Clade } from './organisms.ts';
import { LIBRARY_DOMAINS, type LibraryDomain } from './pfam.ts';
import { createRandom, type Random } from './random.ts';
import { REFERENCE_PROTEINS, type ReferenceProtein } from './reference-proteins.ts';

/** A family to grow. */
export interface FamilyPlan {
  /** Names the family's stream of randomness. */
  readonly key: string;
  readonly ancestor: Ancestor;
  /** How many readable members it has, its founder included. */
  readonly size: number;
  readonly clade: Clade;
  readonly name: string;
  /** The real protein that founds it. */
  readonly reference?: ReferenceProtein;
  /** A dark family has no known domain. */
  readonly dark: boolean;
  /** Least and greatest divergence from the founder. */
  readonly divergence: readonly [number, number];
  /**
   * Least and greatest share of the aligned sites at which a member has the residue of the family's
   * relative.
   */
  readonly lean: readonly [number, number];
}

/** Members of the globin families lean towards alpha haemoglobin, as their common ancestors did. */
const KIN: Readonly<Record<string, string>> = { P68871: 'P69905', P02144: 'P69905' };

/**
 * Sizes of reference families that are not drawn: insulin is what everybody tries; a search must
 * show all globins.
 */
const FIXED_SIZES: Readonly<Record<string, readonly [small: number, full: number]>> = {
  P01308: [30, 64],
  P69905: [13, 24],
  P68871: [12, 20],
  P02144: [10, 16],
};

type Size = 'full' | 'small';

/** An invented family: with domains, without any, or too long to be folded (over 700 residues). */
type Kind = 'known' | 'dark' | 'long';

function referencePlan(seed: number, size: Size, reference: ReferenceProtein): FamilyPlan {
  const { accession, sequence } = reference;
  const random = createRandom(seed, `plan/${accession}`);
  const domains = reference.domains.map(([pfam, start, end]): DomainHit => ({ pfam, start, end }));
  const relative = REFERENCE_PROTEINS.find((other) => other.accession === KIN[accession])?.sequence;
  const kin =
    relative === undefined ? undefined : Array.from(alignTo(sequence, relative), (j) => relative.charAt(j));
  const drawn = size === 'full' ? 20 + random.whole(50) : 7 + random.whole(6);
  return {
    key: accession,
    ancestor: {
      sequence,
      domains,
      pace: drawPace(random, sequence.length, domains),
      ...(kin === undefined ? {} : { kin }),
    },
    size: FIXED_SIZES[accession]?.[size === 'full' ? 1 : 0] ?? drawn,
    clade: reference.clade,
    name: reference.name,
    reference,
    dark: false,
    divergence: relative === undefined ? [0.03, 0.5] : [0.02, 0.15],
    lean: relative === undefined ? [0, 0] : [0.3, 0.7],
  };
}

/**
 * The invented consensus of a library domain: one sequence for the whole universe, so that families
 * share it.
 */
const consensus = (seed: number, { pfam, length }: LibraryDomain): string =>
  inventSequence(createRandom(seed, `domain/${pfam}`), length);

/** A founder: an invented start, the domains with linkers between them, and an invented end. */
function assemble(random: Random, seed: number, parts: readonly LibraryDomain[], tail: number) {
  let sequence = `M${inventSequence(random, 4 + random.whole(20))}`;
  const domains: DomainHit[] = [];
  for (const part of parts) {
    const start = sequence.length;
    sequence += consensus(seed, part);
    domains.push({ pfam: part.pfam, start, end: sequence.length });
    sequence += inventSequence(random, 5 + random.whole(25));
  }
  return { sequence: sequence + inventSequence(random, tail), domains };
}

/** The clades of invented families; one that is there twice is drawn twice as often. */
const INVENTED_CLADES: readonly Clade[] = [
  'bacteria',
  'bacteria',
  'proteobacteria',
  'prokaryotes',
  'life',
  'eukaryotes',
  'archaea',
];

function inventedPlan(seed: number, number: number, size: number, kind: Kind): FamilyPlan {
  const key = `invented/${number}`;
  const random = createRandom(seed, `plan/${key}`);
  const dark = kind === 'dark';
  const first = LIBRARY_DOMAINS[number % LIBRARY_DOMAINS.length] ?? random.pick(LIBRARY_DOMAINS);
  const parts = dark
    ? []
    : [first, ...(random.next() < 0.4 || kind === 'long' ? [random.pick(LIBRARY_DOMAINS)] : [])];
  const tail = kind === 'long' ? 760 + random.whole(900) : dark ? 60 + random.whole(320) : random.whole(60);
  const { sequence, domains } = assemble(random, seed, parts, tail);
  return {
    key,
    ancestor: { sequence, domains, pace: drawPace(random, sequence.length, domains) },
    size,
    clade: random.pick(dark ? [...INVENTED_CLADES, 'viruses'] : INVENTED_CLADES),
    name: dark ? 'Uncharacterized protein' : first.title,
    dark,
    divergence: [0.04, 0.35 + random.next() * 0.25],
    lean: [0, 0],
  };
}

/** Sizes of the invented families, by kind. */
function inventedSizes(seed: number, size: Size): readonly (readonly [number, Kind])[] {
  if (size === 'small')
    return [
      ...[26, 14, 8, 5, 3, 2, 1, 1, 1, 1].map((n) => [n, 'known'] as const),
      ...[12, 5, 2, 1, 1, 1].map((n) => [n, 'dark'] as const),
      ...[6, 2].map((n) => [n, 'long'] as const),
    ];
  const random = createRandom(seed, 'plan/sizes');
  // Sizes fall off as in real clusterings: few large families, many small ones, most of all
  // singletons.
  const drawn = (): number => Math.min(90, Math.floor(1 / (1 - random.next() * 0.99)));
  return [
    ...[1180, 520, 260, 140, 110].map((n) => [n, 'known'] as const),
    ...[210, 75].map((n) => [n, 'dark'] as const),
    ...[60, 24].map((n) => [n, 'long'] as const),
    ...Array.from({ length: 240 }, () => [drawn(), 'known'] as const),
    ...Array.from({ length: 120 }, () => [drawn(), 'dark'] as const),
    ...Array.from({ length: 16 }, () => [Math.min(6, drawn()), 'long'] as const),
  ];
}

/** Every family of a universe, references first. */
export function planFamilies(seed: number, size: Size): FamilyPlan[] {
  return [
    ...REFERENCE_PROTEINS.map((reference) => referencePlan(seed, size, reference)),
    ...inventedSizes(seed, size).map(([members, kind], n) => inventedPlan(seed, n, members, kind)),
  ];
}
