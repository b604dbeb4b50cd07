// All about one protein, from any identifier: UniProt entry, structure, features, cluster and
// neighbours in one query.
import { useState } from 'react';
import { useQuery } from 'urql';
import { ClusterCard, ClusterFields } from './cluster-card.tsx';
import { graphql } from './graphql.ts';
import { BandsFields } from './plddt.tsx';
import { Failures, Loading, Problem } from './problems.tsx';
import { SequenceTracks, TracksFields } from './sequence-tracks.tsx';
import { SimilarCard, SimilarFields } from './similar-card.tsx';
import { StructureViewer } from './structure-viewer.tsx';
import { Thumbnail } from './thumbnail.tsx';

// Each part of the page says in a fragment what it needs; here they become one query. Underneath
// are a resolved accession, a bulk record, a structure, a cluster, its members and a similarity
// search: the gateway plans those. The search takes longest, so it is deferred: the card shows, and
// the neighbours follow in the same answer.
const Card = graphql(
  `
    query ProteinCard($id: String!) {
      lookup(ids: [$id]) {
        problem { message hint }
        protein {
          hash
          accession
          name
          organism
          gene
          uniprotEntry { entryName function }
          length
          sequence
          ptm
          thumbnail { url }
          plddt { mean ...BandsFields }
          structure(format: MMCIF, plddtScale: PERCENT) { text url atomCount }
          cluster { ...ClusterFields }
          ...TracksFields
          ... @defer { similar(first: 6) { ...SimilarFields } }
        }
      }
    }
  `,
  [BandsFields, ClusterFields, SimilarFields, TracksFields],
);

export function ProteinPage({ id }: { id: string }) {
  const [{ data, error, fetching }] = useQuery({ query: Card, variables: { id } });
  const [residue, setResidue] = useState<number>();
  if (fetching) return <Loading what={`Looking up ${id}`} />;
  const protein = data?.lookup?.[0]?.protein;
  const problem = data?.lookup?.[0]?.problem;
  const entry = protein?.uniprotEntry;
  // Undefined until the deferred part has come.
  const similar = protein && 'similar' in protein ? protein.similar : undefined;
  return (
    <>
      <Failures error={error} />
      {problem && <Problem {...problem} />}
      {protein && (
        <>
          <div className="title">
            <Thumbnail url={protein.thumbnail.url} size={72} />
            <div>
              <h1>{protein.name ?? 'Unnamed protein'}</h1>
              <p>
                {[protein.organism, protein.gene, entry?.entryName, protein.accession]
                  .filter(Boolean)
                  .join(' · ')}
                <br />
                <code>{protein.hash}</code>
              </p>
            </div>
            {protein.sequence && (
              <a className="button" href={`#/fold/${protein.sequence}`}>
                Fold it with others
              </a>
            )}
          </div>
          <div className="columns wide-first">
            <section className="card" aria-label="Structure">
              {protein.structure ? (
                <StructureViewer
                  text={protein.structure.text}
                  plddt={protein.plddt}
                  label={`Structure of ${protein.name ?? protein.hash}`}
                  residue={residue}
                />
              ) : (
                <p className="note">
                  The Atlas has no structure of it (700 residues and more are not folded).
                </p>
              )}
            </section>
            <section className="card" aria-label="Facts">
              <dl className="tiles">
                <div>
                  <dt>residues</dt>
                  <dd>{protein.length}</dd>
                </div>
                <div>
                  <dt>mean pLDDT</dt>
                  <dd>{protein.plddt?.mean?.toFixed(1) ?? '–'}</dd>
                </div>
                <div>
                  <dt>pTM</dt>
                  <dd>{protein.ptm?.toFixed(2) ?? '–'}</dd>
                </div>
              </dl>
              {entry?.function && <p>{entry.function}</p>}
              {protein.structure && (
                <p>
                  <a href={protein.structure.url} download={`${protein.hash}.cif`}>
                    Structure as mmCIF
                  </a>{' '}
                  ({protein.structure.atomCount} atoms)
                </p>
              )}
              {protein.sequence && <p className="sequence">{protein.sequence}</p>}
            </section>
          </div>
          <SequenceTracks protein={protein} residue={residue} onResidue={setResidue} />
          <div className="columns">
            {protein.cluster && <ClusterCard cluster={protein.cluster} />}
            <section className="card" aria-labelledby="similar">
              <h2 id="similar">Similar proteins</h2>
              {similar === undefined && <Loading what="Searching by features" />}
              {similar && <SimilarCard search={similar} besides={protein.hash} />}
            </section>
          </div>
        </>
      )}
    </>
  );
}
