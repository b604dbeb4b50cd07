// Reads the words of a text as a search compares them: the same for labels and for what is typed.
import { normalForm } from '../../plain-text.ts';

const GREEK: Readonly<Record<string, string>> = {
  ...{ α: 'alpha', β: 'beta', γ: 'gamma', δ: 'delta', ε: 'epsilon', ζ: 'zeta', η: 'eta', θ: 'theta' },
  ...{ ι: 'iota', κ: 'kappa', λ: 'lambda', μ: 'mu', ν: 'nu', ξ: 'xi', ο: 'omicron', π: 'pi', ρ: 'rho' },
  ...{ σ: 'sigma', ς: 'sigma', τ: 'tau', υ: 'upsilon', φ: 'phi', χ: 'chi', ψ: 'psi', ω: 'omega' },
};

/** "domains" is "domain", "helices" is "helix", "classes" is "class"; "virus" and "axis" stay. */
function toSingular(word: string): string {
  if (word.length < 4) return word;
  if (/[a-z]ices$/.test(word)) return `${word.slice(0, -4)}ix`;
  if (/[a-z]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[a-hj-rtv-z]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Reads the words of a text without white space. */
const readTerms = (text: string): string[] =>
  normalForm(text, 'NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/(?<=\p{L})(?=[α-ω])|(?<=[α-ω])(?=\p{L})/gu, ' ')
    .replace(/[α-ω]/g, (letter) => GREEK[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(toSingular);

/**
 * Reads words in lower case and singular, without accents, hyphens and signs, and with Greek
 * letters by their names: "β-strands" and "beta strand" are the same.
 *
 * @param known - terms of pieces between white space: many texts repeat a few hundred of them
 */
export function searchTerms(text: string, known = new Map<string, readonly string[]>()): string[] {
  const found: string[] = [];
  for (const piece of text.split(/\s+/)) {
    let terms = known.get(piece);
    if (terms === undefined) {
      terms = readTerms(piece);
      known.set(piece, terms);
    }
    for (const term of terms) found.push(term);
  }
  return found;
}
