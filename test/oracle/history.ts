// Sequences of twenty documents over five proteins, of one gateway with all caches but that of
// responses: each answer is what single records say, whatever was asked before and whatever failed
// then, or has an error at the place. `TEST_RUNS=40 CI=1 npx vitest run test/oracle/history` tries
// 20,000 sequences, `TEST_SEED=2` others.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import { at } from '../support.ts';
import { holdSession, type Step } from './property.ts';
import { type RelatedProtein, relatedDocuments } from './related-documents.ts';
import { DIALECTS, type Dialect, type Fault, type OracleWorld, openOracleWorld } from './world.ts';

/**
 * Both dialects together: 500 on CI, where the faults that this found would come back; some at each
 * `npm test`.
 */
const SEQUENCES = process.env.CI ? 500 : 60;
const DOCUMENTS = 20;
/** Sequences draw from a pool of documents, so that the reference works out each document once. */
const POOL = { documents: 200, sequences: 250 };
const UNKNOWN = '0'.repeat(32);
/** Two proteins of 21 residues, each similar to the other: short records are read fast. */
const FASTA = `>sp|P0DTX1|ONE_TEST Alpha chain OS=Homo sapiens OX=9606 GN=ONE
GIVEQCATSIASLYQLENYCN
>tr|Q8XYZ2|TWO_TEST Beta chain OS=Mus musculus OX=10090 GN=TWO
GIVEQCATSIASLYQLEAYCN
`;

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

let world: OracleWorld;
let proteins: readonly RelatedProtein[] = [];
/** Features that are asked for, some of each protein's ranking; the service has no others. */
let features: ReadonlySet<unknown> = new Set();

/**
 * A service of five proteins and few features, whose records name a protein otherwise than its
 * cluster.
 */
function alterAnswer(path: string, json: unknown): unknown {
  if (!isFields(json)) return json;
  if (path.endsWith('/features') && Array.isArray(json.data))
    return { data: json.data.filter((row) => isFields(row) && features.has(row.feature_index)) };
  if (Array.isArray(json.similar_proteins)) {
    const isOurs = (hit: unknown) => isFields(hit) && proteins.some(({ hash }) => hash === hit.protein_hash);
    return { ...json, similar_proteins: json.similar_proteins.filter(isOurs) };
  }
  // The record of one cluster has no regions: they are in the record of its representative.
  if (json.accession === 'Q8XYZ2' && Array.isArray(json.cluster_representative_features)) {
    const values = json.cluster_representative_features.filter(isFields);
    return {
      ...json,
      cluster_representative_features: values.map(({ residue_regions: _, ...value }) => value),
    };
  }
  if (path.includes('/uniprot/')) return { ...json, protein_name: `Own ${json.protein_name}` };
  if (typeof json.header === 'string') return { ...json, header: json.header.replace(' ', ' Own ') };
  return json;
}

/** Failures that are answered, or break off, at once. */
const faults: fc.Arbitrary<Fault> = fc.record({
  operation: fc.constantFrom(
    ...([
      'protein',
      'protein',
      'protein',
      'protein',
      'protein',
      'cluster',
      'bulk',
      'uniprot',
      'similarity',
      'catalogue',
    ] as const),
  ),
  kind: fc.constantFrom('unavailable', 'invalid', 'cut', 'empty', 'html'),
  times: fc.constantFrom(1, 1000),
});

async function openWorld(): Promise<void> {
  world = await openOracleWorld(alterAnswer, FASTA);
  const session = world.openSession('rich', false);
  const read = async (query: string): Promise<unknown> => (await session.reference(query)).data;
  const own = FASTA.split('\n').filter((line) => /^[A-Z]/.test(line));
  // A representative without a structure, a member of its cluster, and one in no cluster.
  const { representatives, unfolded, unclustered } = world.kinds;
  const representative = representatives.find((hash) => unfolded.includes(hash)) ?? '';
  const cluster = at(await read(`{ cluster(hash: "${representative}") { memberHashes } }`), 'cluster');
  const members = at(cluster, 'memberHashes');
  const member = Array.isArray(members) ? members.find((hash) => hash !== representative) : undefined;
  const hashes = own.map((sequence) => createHash('md5').update(sequence).digest('hex'));
  const found: unknown[] = [];
  for (const hash of [...hashes, representative, member, unclustered[0]])
    found.push(
      at(
        await read(
          `{ protein(hash: "${hash}") { hash sequence uniprotEntry { accession } features(first: 12) { feature { index } } } }`,
        ),
        'protein',
      ),
    );
  await session.close();
  features = new Set(
    found.flatMap((protein) => [0, 4, 11].map((rank) => at(protein, `features.${rank}.feature.index`))),
  );
  proteins = found.map((protein) => {
    const accession = at(protein, 'uniprotEntry.accession');
    return {
      hash: String(at(protein, 'hash')),
      sequence: String(at(protein, 'sequence')),
      accession: typeof accession === 'string' ? accession : undefined,
    };
  });
}

/** Declares the property over one dialect: a file for each, so that two cores share them. */
export function describeHistory(dialect: Dialect): void {
  describe(`over a service that speaks the ${dialect} dialect`, () => {
    beforeAll(openWorld);
    afterAll(() => world.close());

    it('an answer never depends on the answers before it', { timeout: 24 * 3_600_000 }, async () => {
      expect(new Set(proteins.map(({ hash }) => hash)).size).toBe(5);
      const documents = relatedDocuments(proteins, [...features].map(Number), UNKNOWN);
      const total = Math.ceil(runs(SEQUENCES) / DIALECTS.length);
      const firstSeed = Number(process.env.TEST_SEED ?? 1) * 1_000_000;
      for (let tried = 0; tried < total; tried += POOL.sequences) {
        const seed = firstSeed + tried;
        const pool = fc.sample(documents, { seed, numRuns: POOL.documents });
        // A case shrinks to short documents.
        const document = fc.constantFrom(...pool.sort((a, b) => a.query.length - b.query.length));
        const step: fc.Arbitrary<Step> = fc
          .record({
            question: document,
            beside: fc.option(document, { freq: 8, nil: undefined }),
            fault: fc.option(faults, { freq: 2, nil: undefined }),
          })
          .map(({ question, ...more }) => ({ ...question, ...more }));
        const sequences = fc.array(step, { minLength: DOCUMENTS, maxLength: DOCUMENTS });
        await fc.assert(
          fc.asyncProperty(sequences, (steps) => holdSession(world, dialect, steps, false)),
          { seed, numRuns: Math.min(POOL.sequences, total - tried) },
        );
      }
    });
  });
}
