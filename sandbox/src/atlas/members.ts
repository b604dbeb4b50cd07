// Grows the members of one family: sequences, where they come from, what is known of them, whether
// they are folded.
import { createHash } from 'node:crypto';
import { drawAccession, type Source, uniparcId, uniprotAccession } from './accessions.ts';
import { type DomainHit, evolve } from './evolve.ts';
import type { FamilyPlan } from './founders.ts';
import { CLADES, type Organism, organismNamed } from './organisms.ts';
import { createRandom, pickWeighted, type Random } from './random.ts';

/**
 * Whether the Atlas holds a structure: `ready` it does; `on_demand` it is folded when asked for;
 * `slow` likewise, but the structure is there only from the second call on; `never` folding fails.
 */
export type FoldState = 'ready' | 'on_demand' | 'slow' | 'never';

/** A protein as it is grown. */
export interface Member {
  readonly hash: string;
  readonly sequence: string;
  readonly domains: readonly DomainHit[];
  readonly source: Source | 'user';
  readonly accession: string;
  readonly uniref: string;
  readonly header: string;
  readonly lineage: readonly string[];
  readonly fold: FoldState;
  /**
   * `withheld` members only show as restricted hits; `absent` ones have a UniProt entry but are not
   * in the Atlas.
   */
  readonly standing: 'member' | 'withheld' | 'absent';
  readonly reviewed: boolean;
  readonly uniprot: UniprotRecord | null;
}

/** The entry of the knowledge base for a protein. */
export interface UniprotRecord {
  readonly entryName: string;
  readonly name: string;
  readonly gene: string | null;
  readonly organism: string;
  readonly function: string | null;
}

/** The protein hash of the wire: MD5 of the upper-case sequence, lower-case hexadecimal. */
export const proteinHash = (sequence: string): string => createHash('md5').update(sequence).digest('hex');

const SOURCES: readonly Source[] = ['uniprotkb', 'uniparc', 'img_m', 'mgy', 'spire'];
/**
 * Share of each source among homologs of well-known proteins, of other known families, and of dark
 * families.
 */
const SOURCE_WEIGHTS = {
  reference: [70, 24, 1, 4, 1],
  known: [34, 16, 16, 24, 10],
  dark: [8, 10, 24, 40, 18],
};
const FOLD_STATES: readonly FoldState[] = ['ready', 'on_demand', 'slow', 'never'];
const FOLD_WEIGHTS = [86, 7, 3, 4];

/** Domains are recognised less surely the further a member has drifted. */
const recognised = (random: Random, divergence: number): boolean =>
  random.next() > Math.max(0, divergence - 0.3) * 1.6;

const uniprotHeader = (accession: string, reviewed: boolean, u: UniprotRecord, taxonId: number): string =>
  `${reviewed ? 'sp' : 'tr'}|${accession}|${u.entryName} ${u.name} OS=${u.organism} OX=${taxonId}${u.gene === null ? '' : ` GN=${u.gene}`}`;

function founderMember(plan: FamilyPlan): Member | null {
  const { reference, ancestor } = plan;
  if (reference === undefined) return null;
  const hash = proteinHash(ancestor.sequence);
  if (hash !== reference.md5)
    throw new Error(`the sequence of ${reference.accession} does not have its known MD5`);
  const organism = organismNamed(reference.organism);
  const { entryName, name, gene } = reference;
  const uniprot = { entryName, name, gene, organism: reference.organism, function: reference.function };
  return {
    hash,
    sequence: ancestor.sequence,
    domains: ancestor.domains,
    source: 'uniprotkb',
    accession: reference.accession,
    uniref: `UniRef90_${reference.accession}`,
    header: uniprotHeader(reference.accession, true, uniprot, organism?.taxonId ?? 0),
    lineage: organism?.lineage ?? [],
    fold: 'ready',
    standing: 'member',
    reviewed: true,
    uniprot,
  };
}

/** The chain that is cut out of the founder: known to UniParc by an identifier of its own. */
function matureMember(random: Random, founder: Member, { reference }: FamilyPlan): Member | null {
  if (reference?.mature === undefined) return null;
  const { name, start, end } = reference.mature;
  const sequence = founder.sequence.slice(start, end);
  const accession = uniparcId(random);
  return {
    ...founder,
    hash: proteinHash(sequence),
    sequence,
    domains: founder.domains.filter((domain) => domain.start >= start && domain.end <= end),
    source: 'uniparc',
    accession,
    uniref: `UniRef90_${accession}`,
    header: `${accession} ${name} [${reference.organism}]`,
    reviewed: false,
    uniprot: null,
  };
}

/** No reader may take such an entry for one of UniProt. */
const INVENTED = 'Invented by the sandbox; UniProt has no such entry.';

function uniprotRecord(
  random: Random,
  plan: FamilyPlan,
  organism: Organism,
  accession: string,
  reviewed: boolean,
): UniprotRecord {
  const { reference } = plan;
  const gene =
    reference?.gene ??
    (random.next() < 0.7 ? `${organism.mnemonic}_${String(random.whole(10_000)).padStart(5, '0')}` : null);
  return {
    entryName: `${reviewed && reference ? reference.gene : accession}_${organism.mnemonic}`,
    name: reviewed || plan.dark || !reference ? plan.name : `${plan.name} homolog`,
    gene,
    organism: organism.lineage.at(-1) ?? '',
    function: `${INVENTED}${reference && random.next() < 0.8 ? ` ${reference.function}` : ''}`,
  };
}

/** Metagenomic members are known to a phylum at best. */
function drawLineage(random: Random, source: Source, organism: Organism): readonly string[] {
  if (source === 'uniprotkb' || source === 'uniparc') return organism.lineage;
  return organism.lineage.slice(0, [0, 1, 2, 2, 3][random.whole(5)]);
}

const between = (random: Random, [least, greatest]: readonly [number, number]): number =>
  least + random.next() * (greatest - least);

function drawMember(
  random: Random,
  plan: FamilyPlan,
  standing: Member['standing'],
  taken: Set<string>,
): Member {
  const divergence = between(random, plan.divergence);
  const { sequence, domains } = evolve(random, plan.ancestor, divergence, between(random, plan.lean));
  const kind = plan.reference ? 'reference' : plan.dark ? 'dark' : 'known';
  const drawn = SOURCES[pickWeighted(random, SOURCE_WEIGHTS[kind])] ?? 'uniparc';
  const source = standing === 'absent' ? 'uniprotkb' : drawn;
  const organism = random.pick(CLADES[plan.clade]);
  const reviewed =
    source === 'uniprotkb' &&
    random.next() < 0.4 &&
    plan.reference !== undefined &&
    !taken.has(`${plan.reference.gene}_${organism.mnemonic}`);
  const accession =
    source === 'uniprotkb' ? uniprotAccession(random, reviewed) : drawAccession(random, source);
  const uniprot = source === 'uniprotkb' ? uniprotRecord(random, plan, organism, accession, reviewed) : null;
  if (uniprot) taken.add(uniprot.entryName);
  const lineage = drawLineage(random, source, organism);
  const archive = uniparcId(random);
  return {
    hash: proteinHash(sequence),
    sequence,
    domains: domains.filter(({ start, end }) => end > start && recognised(random, divergence)),
    source,
    accession,
    uniref: `UniRef90_${source === 'uniprotkb' || source === 'uniparc' ? accession : archive}`,
    header: uniprot
      ? uniprotHeader(accession, reviewed, uniprot, organism.taxonId)
      : `${accession} ${plan.name}${lineage[1] ? ` [${lineage[1]}]` : ''}`,
    lineage,
    fold: FOLD_STATES[pickWeighted(random, FOLD_WEIGHTS)] ?? 'ready',
    standing,
    reviewed,
    uniprot,
  };
}

/**
 * All members of a family; none has a sequence, an accession or an entry name that is already in
 * `taken`.
 */
export function growMembers(seed: number, plan: FamilyPlan, taken: Set<string>): Member[] {
  const random = createRandom(seed, `members/${plan.key}`);
  const founder = founderMember(plan);
  const members: Member[] = founder === null ? [] : [founder];
  if (founder?.uniprot) taken.add(founder.uniprot.entryName);
  const mature = founder === null ? null : matureMember(random, founder, plan);
  if (mature !== null) members.push(mature);
  for (const { hash, accession } of members) taken.add(hash).add(accession);
  const withheld = plan.size >= 10 ? Math.max(1, Math.round(plan.size * 0.01)) : 0;
  const absent = plan.reference ? 1 : Math.floor(plan.size / 100);
  const total = plan.size + withheld + absent;
  while (members.length < total) {
    const nth = members.length;
    const standing = nth < plan.size ? 'member' : nth < plan.size + withheld ? 'withheld' : 'absent';
    const member = drawMember(random, plan, standing, taken);
    if (taken.has(member.hash) || taken.has(member.accession)) continue;
    taken.add(member.hash).add(member.accession);
    members.push(member);
  }
  return members;
}
