// Where the peers' data come from: an undici pool to the service, loaders that live as long as a
// request, and the bulk look-up for those that use it. It knows no GraphQL.
import DataLoader from 'dataloader';
import { Pool } from 'undici';
import { unzip } from './unzip.ts';

const ATLAS = '/atlas/protein/api/v1alpha1';
/** Hashes that the bulk look-up takes at once (spec, section Limits). */
const BULK = 500;
/** Features fetched of each protein. */
const TOP = 10;

export interface FeatureValue {
  readonly feature_index: number;
  readonly value: number;
  readonly label: string;
}
export interface ClusterRecord {
  readonly protein_hash: string;
  readonly protein_name: string;
  readonly cluster_size: number;
  readonly cluster_pct_characterized: number;
}
export interface ProteinRecord {
  readonly protein_hash: string;
  readonly accession: string | null;
  readonly sequence: string | null;
  readonly ptm: number | null;
  readonly pdb: string | null;
  readonly cluster_rep_protein_hash: string | null;
  readonly sae_features: readonly FeatureValue[];
  /** The bulk look-up brings it along. */
  readonly cluster?: ClusterRecord;
}
/** The parts of a protein that are needed. */
export interface Wanted {
  readonly cluster: boolean;
  readonly features: boolean;
  readonly structure: boolean;
  readonly sequence: boolean;
}
export interface Feature {
  readonly index: number;
  readonly label: string;
  readonly description: string;
}
export interface Sources {
  readonly catalogue: readonly Feature[];
  protein(hash: string, wanted: Wanted): Promise<ProteinRecord>;
  proteins(hashes: readonly string[], wanted: Wanted): Promise<readonly ProteinRecord[]>;
  cluster(protein: ProteinRecord): Promise<ClusterRecord>;
}

/** The connections to the service, and the plain calls over them. */
export function openService(url: string) {
  const pool = new Pool(url, { connections: 64 });
  const json = async <T>(path: string): Promise<T> => {
    const { statusCode, body } = await pool.request({ method: 'GET', path: `${ATLAS}${path}` });
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    return (await body.json()) as T;
  };
  return {
    json,
    async bulk(hashes: readonly string[], wanted: Wanted): Promise<Buffer> {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: `${ATLAS}/proteins/batch`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          protein_hashes: hashes,
          topk_features: TOP,
          include_structure: wanted.structure,
          include_cluster_info: wanted.cluster,
          include_sequence: wanted.sequence,
          include_features: { protein_level: wanted.features, per_residue: false },
        }),
      });
      if (statusCode !== 200) throw new Error(`the bulk look-up answered ${statusCode}`);
      return Buffer.from(await body.arrayBuffer());
    },
  };
}
export type Service = ReturnType<typeof openService>;

/** The catalogue, which every peer keeps in memory. */
export async function readCatalogue(service: Service): Promise<readonly Feature[]> {
  const { data } = await service.json<{
    data: { feature_index: number; label: string; description: string }[];
  }>('/features');
  return data.map(({ feature_index: index, label, description }) => ({ index, label, description }));
}

interface ClusterInfo {
  readonly clusters: Record<string, ClusterRecord>;
  readonly proteins: Record<string, string>;
}

/** The proteins of an archive, by hash. */
export function readArchive(zip: Buffer, hashes: readonly string[]): Map<string, ProteinRecord> {
  const members = unzip(zip);
  const text = (name: string): string | undefined => members.get(name)?.toString();
  const clusters: ClusterInfo = JSON.parse(text('cluster_info.json') ?? '{"clusters":{},"proteins":{}}');
  const features: Record<string, { top_features: FeatureValue[] }> = JSON.parse(
    text('features.json') ?? '{}',
  );
  const sequences = new Map<string, { accession: string | null; sequence: string }>();
  for (const record of (text('sequences.fasta') ?? '').split('>').slice(1)) {
    const [head = '', sequence = ''] = record.split('\n');
    const [hash = '', accession = null] = head.split('|');
    sequences.set(hash, { accession, sequence });
  }
  return new Map(
    hashes.map((hash) => {
      const pdb = text(`structures/${hash}.pdb`) ?? null;
      const representative = clusters.proteins[hash];
      const cluster = representative === undefined ? undefined : clusters.clusters[representative];
      const ptm = /^REMARK ptm (\S+)/m.exec(pdb?.slice(0, 200) ?? '')?.[1];
      return [
        hash,
        {
          protein_hash: hash,
          accession: sequences.get(hash)?.accession ?? null,
          sequence: sequences.get(hash)?.sequence ?? null,
          ptm: ptm === undefined ? null : Number(ptm),
          pdb,
          cluster_rep_protein_hash: representative ?? null,
          sae_features: features[hash]?.top_features ?? [],
          ...(cluster === undefined ? {} : { cluster }),
        },
      ];
    }),
  );
}

/** How proteins are fetched: record by record, or by the bulk look-up. */
export type Way = 'records' | 'bulk';

/** The sources of one request. */
export function openSources(service: Service, catalogue: readonly Feature[], way: Way): Sources {
  const records = new DataLoader<string, ProteinRecord>((hashes) =>
    Promise.all(
      hashes.map((hash) =>
        service.json<ProteinRecord>(`/proteins/${hash}?topk_features=${TOP}&fold_on_miss=false`),
      ),
    ),
  );
  const clusters = new DataLoader<string, ClusterRecord>((hashes) =>
    Promise.all(hashes.map((hash) => service.json<ClusterRecord>(`/clusters/${hash}?topk_features=1`))),
  );
  async function bulk(hashes: readonly string[], wanted: Wanted): Promise<ProteinRecord[]> {
    const parts = Array.from({ length: Math.ceil(hashes.length / BULK) }, (_, n) =>
      hashes.slice(n * BULK, (n + 1) * BULK),
    );
    const found = await Promise.all(
      parts.map(async (part) => readArchive(await service.bulk(part, wanted), part)),
    );
    return parts.flatMap((part, n) =>
      part.flatMap((hash) => {
        const record = found[n]?.get(hash);
        return record === undefined ? [] : [record];
      }),
    );
  }
  return {
    catalogue,
    // The record does not hold the cluster: where the bulk look-up is used, it answers both at
    // once.
    protein: async (hash, wanted) =>
      way === 'bulk' && wanted.cluster
        ? ((await bulk([hash], wanted))[0] ?? records.load(hash))
        : records.load(hash),
    proteins: (hashes, wanted) =>
      way === 'bulk' ? bulk(hashes, wanted) : Promise.all(hashes.map((hash) => records.load(hash))),
    cluster: async (protein) =>
      protein.cluster ?? clusters.load(protein.cluster_rep_protein_hash ?? protein.protein_hash),
  };
}
