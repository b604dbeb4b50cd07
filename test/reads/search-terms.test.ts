// Words of a search: what people type finds what labels say.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalogueSearch, searchWords } from '../../src/upstream/reads/catalogue-search.ts';
import { searchTerms } from '../../src/upstream/reads/search-terms.ts';
import { runs } from '../property-runs.ts';

const find = (label: string, typed: string) =>
  createCatalogueSearch(new Map([[7, { feature_index: 7, label, description: null }]])).find(
    searchWords(typed),
  );

describe('a search', () => {
  it.each([
    ['β-strand edge', 'beta-strand', 'beta strands', 'Beta–Strand', 'β strand', 'BETA_STRAND'],
    ['Beta strand edge', 'β-strand', 'Β-STRANDS', 'β‑strand'],
    ['C2H2 zinc-finger domains', 'zinc finger', 'Zinc fingers', 'zinc-finger domain'],
    ['Transmembrane helix', 'helices', 'transmembrane'],
    ['Amphipathic α-helices', 'alpha helix', 'alpha-helix'],
    ['α/β hydrolase', 'alpha beta', 'alpha/beta hydrolases', 'αβ', '𝚨𝚩', 'αβ-hydrolases'],
    ['αααβ coil', 'alpha alpha alpha beta'],
    ['TGFβ family', 'TGF-beta families', 'tgf beta', 'TGF-β'],
    ['5′ end, Ca²⁺ site', "5'", 'Ca2+ sites', 'ca2'],
    ['Protéine kinase classes', 'proteine kinases', 'class'],
    ['β2-microglobulin', 'beta2 microglobulins', 'β2'],
  ])('finds what is typed in labels with %j', async (label, ...typed) => {
    for (const text of typed) expect(await find(label, text), text).toEqual([7]);
  });

  it('does not find another word', async () => {
    expect(await find('β-strand', 'gamma')).toEqual([]);
    expect(await find('virus axis', 'kinase')).toEqual([]);
  });

  it('reads words the same when they are read twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = searchTerms(text);
        expect(searchTerms(once.join(' '))).toEqual(once);
      }),
      { numRuns: runs(200) },
    );
  });
});
