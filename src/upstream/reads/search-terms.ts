// Reads the words of a text as a search compares them: the same for labels and for what is typed.

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

/**
 * Reads words in lower case and singular, without accents, hyphens and signs, and with Greek
 * letters by their names: "β-strands" and "beta strand" are the same.
 */
export function searchTerms(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/(?<=\p{L})(?=[α-ω])|(?<=[α-ω])(?=\p{L})/gu, ' ')
    .replace(/[α-ω]/g, (letter) => GREEK[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(toSingular);
}
