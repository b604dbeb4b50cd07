// The Atlas half of the stand-in service: each answer as bytes, put together from what was made at
// the start. It knows no HTTP.
import { catalogueJson } from '../../../sandbox/src/atlas/catalogue.ts';
import {
  clusterFacts,
  clusterTemplate,
  findNumber,
  spellSequence,
  toAccession,
  toRepresentative,
  toTemplate,
} from '../world/facts.ts';
import type { Template } from '../world/templates.ts';
import {
  type Entry,
  makeEntry,
  type Piece,
  packPiece,
  plainPiece,
  renamed,
  writeZip,
  type Zip,
} from './zip-writer.ts';

/** The body of the bulk look-up (spec, "Bulk lookup body"), defaults filled in. */
export interface BulkBody {
  readonly protein_hashes: readonly string[];
  readonly topk_features?: number;
  readonly include_structure?: boolean;
  readonly include_cluster_info?: boolean;
  readonly include_sequence?: boolean;
  readonly include_features?: boolean | { readonly protein_level?: boolean; readonly per_residue?: boolean };
}

/** The fields that all clusters have in common. */
const COMMON = {
  cluster_mean_domain_coverage: 0.72,
  source: 'uniprotkb',
  accession: 'P01308',
  cluster_top_pfam_domains: {
    PF08241: { name: 'Methyltransf_11', count: 70 },
    PF00049: { name: 'Insulin', count: 12 },
  },
  cluster_taxonomy_info: { rank: 'phylum', name: 'Chordata' },
  top_phyla: { Chordata: 40, Arthropoda: 12, Nematoda: 3 },
  mean_plddt: 0.81,
  ptm: 0.77,
};

const clusterRecord = (representative: string) => ({ ...clusterFacts(representative), ...COMMON });
/** The JSON of a template without its opening brace, ready to follow what is particular. */
const rest = (value: object): string => `,${JSON.stringify(value).slice(1)}`;

/** The answers for any hash. */
export async function openAtlasAnswers(templates: readonly Template[]) {
  const catalogue = await catalogueJson();
  const clusterRest = packPiece(rest(COMMON));
  const structures = templates.map(({ memberPdb }) => makeEntry('', [packPiece(memberPdb)]));
  const features = new Map<string, readonly Piece[]>();
  const records = new Map<string, string>();
  const pick = (number: number): Template => {
    const template = templates[number];
    if (template === undefined) throw new RangeError(`There is no template ${number}.`);
    return template;
  };

  /** The features of every template for these options, compressed at the first time. */
  function featurePieces(top: number, level: boolean, rows: boolean): readonly Piece[] {
    const key = `${top} ${level} ${rows}`;
    const made =
      features.get(key) ??
      templates.map((template) => {
        const ranking = template.features
          .slice(0, top)
          .map(({ feature_index, value, label }) => ({ feature_index, value, label }));
        const members = [
          ...(level ? [`"protein_level":${template.proteinLevel}`] : []),
          ...(rows ? [`"per_residue":${template.perResidue}`] : []),
          `"top_features":${JSON.stringify(ranking)}`,
        ];
        return packPiece(`{${members.join(',')}}`);
      });
    features.set(key, made);
    return made;
  }

  function featuresEntry(numbers: ReadonlyMap<string, number>, pieces: readonly Piece[]): Entry {
    const parts = [...numbers].flatMap(([hash, number], n) => {
      const piece = pieces[toTemplate(number)];
      return [plainPiece(`${n === 0 ? '{' : ','}"${hash}":`), ...(piece === undefined ? [] : [piece])];
    });
    return makeEntry('features.json', [...parts, plainPiece(numbers.size === 0 ? '{}' : '}')]);
  }

  function clusterEntry(hashes: readonly string[]): Entry {
    const representatives = [...new Set(hashes.map(toRepresentative))];
    const clusters = representatives.flatMap((hash, n) => [
      plainPiece(`${n === 0 ? '' : ','}"${hash}":${JSON.stringify(clusterFacts(hash)).slice(0, -1)}`),
      clusterRest,
    ]);
    const links = JSON.stringify(Object.fromEntries(hashes.map((hash) => [hash, toRepresentative(hash)])));
    return makeEntry('cluster_info.json', [
      plainPiece('{"clusters":{'),
      ...clusters,
      plainPiece(`},"proteins":${links}}`),
    ]);
  }

  return {
    catalogue,
    /** POST /proteins/batch. */
    bulk(body: BulkBody): Zip {
      const numbers = new Map<string, number>();
      for (const hash of body.protein_hashes) {
        const number = numbers.has(hash) ? undefined : findNumber(hash);
        if (number !== undefined) numbers.set(hash, number);
      }
      const wanted = body.include_features ?? true;
      const level = typeof wanted === 'boolean' ? wanted : (wanted.protein_level ?? true);
      const rows = typeof wanted === 'boolean' ? wanted : (wanted.per_residue ?? true);
      const entries: Entry[] = [];
      if (body.include_structure !== false)
        for (const [hash, number] of numbers) {
          const entry = structures[toTemplate(number)];
          if (entry !== undefined) entries.push(renamed(entry, `structures/${hash}.pdb`));
        }
      if (body.include_sequence !== false)
        entries.push(
          makeEntry(
            'sequences.fasta',
            Array.from(numbers, ([hash, number]) =>
              plainPiece(`>${hash}|${toAccession(hash)}|uniparc\n${spellSequence(number)}\n`),
            ),
          ),
        );
      if (body.include_cluster_info !== false) entries.push(clusterEntry([...numbers.keys()]));
      if (level || rows)
        entries.push(featuresEntry(numbers, featurePieces(body.topk_features ?? 10, level, rows)));
      return writeZip(entries);
    },
    /** GET /proteins/{hash}; undefined for what is no protein. */
    protein(hash: string, top: number): string | undefined {
      const number = findNumber(hash);
      if (number === undefined) return undefined;
      const template = pick(toTemplate(number));
      const key = `${toTemplate(number)} ${top}`;
      const sequence = spellSequence(number);
      const own = JSON.stringify({
        protein_hash: hash,
        accession: toAccession(hash),
        cluster_rep_protein_hash: toRepresentative(hash) === hash ? null : toRepresentative(hash),
        sequence,
        sequence_length: sequence.length,
      }).slice(0, -1);
      const record =
        records.get(key) ??
        `${rest({
          source: 'uniparc',
          header: 'Protein of the stand-in service',
          ptm: template.ptm,
          mean_plddt: template.meanPlddt,
          residues_plddt: template.plddt,
          pdb: template.recordPdb,
          folded_on_demand: false,
          sae_features: template.features.slice(0, top),
        }).slice(
          0,
          -1,
        )},"protein_activations":${template.proteinLevel},"per_residue_activations":${template.perResidue}}`;
      records.set(key, record);
      return own + record;
    },
    /** GET /clusters/{hash}; undefined for what represents no cluster. */
    cluster(hash: string, top: number): string | undefined {
      if (toRepresentative(hash) !== hash) return undefined;
      const record = clusterRecord(hash);
      // The representative, and hashes that differ from it in their beginning.
      const members = Array.from({ length: record.cluster_size }, (_, n) =>
        n === 0 ? hash : `${n.toString(16).padStart(4, '0')}${hash.slice(4)}`,
      );
      return JSON.stringify({
        ...record,
        member_protein_hashes: members,
        cluster_representative_features: pick(clusterTemplate(hash)).features.slice(0, top),
      });
    },
  };
}
