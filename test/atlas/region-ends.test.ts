// Residue regions through the gateway: the residue after the last as `end`, whichever end the
// service sends.
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { at, listAt, openWorld } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const REGIONS = 'feature { index } regions { start end peak meanActivation }';
const ofProtein = (args: string) => `{ protein(hash: "${HBA}") { features(${args}) { ${REGIONS} } } }`;

/** The answer of a gateway without a cache to each query. */
async function askAlone(dialect: (typeof DIALECTS)[number], queries: readonly string[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const query of queries) {
    const world = await openWorld({}, { dialect });
    try {
      const { data, errors } = await world.query(query);
      expect(errors).toBeUndefined();
      answers.push(data);
    } finally {
      await world.close();
    }
  }
  return answers;
}

describe('residue regions', () => {
  it('are the same whether the service sends the last residue or the one after it', async () => {
    const queries = [
      ofProtein('first: 20'),
      ofProtein('first: 5, normalize: false'),
      `{ protein(hash: "${INSULIN}") { features(first: 1) { ${REGIONS} } } }`,
      `{ cluster(hash: "${HBA}") { representative { features(first: 1) { ${REGIONS} } } } }`,
      `{ cluster(hash: "${INSULIN}") { representative { features(first: 10) { ${REGIONS} } } } }`,
      `{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { features(first: 3) { ${REGIONS} } } }`,
    ];
    const [plain, rich] = [await askAlone('plain', queries), await askAlone('rich', queries)];
    expect(plain).toEqual(rich);
    expect(listAt(rich[0], 'protein.features')).toHaveLength(20);
    expect(listAt(rich[3], 'cluster.representative.features.0.regions').length).toBeGreaterThan(0);
  });

  it.each(DIALECTS)('end behind the last active residue, of a service that speaks %s', async (dialect) => {
    const world = await openWorld({}, { dialect });
    try {
      const { data } = await world.query(
        `{ protein(hash: "${HBA}") { length features(first: 20) { regions { start end } residues } } }`,
      );
      for (const feature of listAt(data, 'protein.features')) {
        const along = listAt(feature, 'residues');
        for (const region of listAt(feature, 'regions')) {
          const end = Number(at(region, 'end'));
          expect(along[end - 1]).toBeGreaterThan(0);
          expect(along[end] ?? 0).toBe(0);
        }
      }
    } finally {
      await world.close();
    }
  });
});
