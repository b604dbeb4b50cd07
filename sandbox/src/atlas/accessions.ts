// Invents accessions in the forms of the five sequence databases. They are drawn, never looked up:
// that one of them may exist in the real world means nothing.
import type { Random } from './random.ts';

/** The databases a protein can come from. */
export type Source = 'uniprotkb' | 'uniparc' | 'img_m' | 'mgy' | 'spire';

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ALPHANUMERIC = `${CAPITALS}0123456789`;

const draw = (random: Random, alphabet: string, count: number): string => {
  let text = '';
  for (let i = 0; i < count; i++) text += alphabet.charAt(random.whole(alphabet.length));
  return text;
};
const digits = (random: Random, count: number): string => draw(random, '0123456789', count);

/** A UniParc identifier: UPI and ten hexadecimal digits. */
export const uniparcId = (random: Random): string => `UPI${draw(random, '0123456789ABCDEF', 10)}`;

/** A UniProtKB accession: six characters for reviewed entries, ten for the rest. */
export function uniprotAccession(random: Random, reviewed: boolean): string {
  if (reviewed)
    return `${draw(random, 'OPQ', 1)}${digits(random, 1)}${draw(random, ALPHANUMERIC, 3)}${digits(random, 1)}`;
  const block = (): string => draw(random, CAPITALS, 1) + draw(random, ALPHANUMERIC, 2) + digits(random, 1);
  return `A0${block()}${block()}`;
}

/** An accession of a metagenomic or archive database. */
export function drawAccession(random: Random, source: Exclude<Source, 'uniprotkb'>): string {
  switch (source) {
    case 'uniparc':
      return uniparcId(random);
    case 'mgy':
      return `MGYP${digits(random, 12)}`;
    case 'img_m':
      return `33000${digits(random, 5)}_Ga0${digits(random, 6)}_${digits(random, 6)}`;
    case 'spire':
      return `SPIRE_MAG_${digits(random, 8)}_${digits(random, 5)}`;
  }
}
