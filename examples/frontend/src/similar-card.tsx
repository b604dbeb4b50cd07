// Results of a similarity search: proteins with similar features, and the features that they share.
import { type FragmentOf, graphql, readFragment } from './graphql.ts';
import { Bar, Thumbnail } from './thumbnail.tsx';

export const SimilarFields = graphql(`
  fragment SimilarFields on SimilaritySearch {
    restrictedCount
    hits {
      score
      protein { hash accession name organism gene length ptm thumbnail { url } }
      cluster { name size }
    }
    sharedFeatures(first: 6) { occurrences feature { index label } }
  }
`);

interface SimilarCardProps {
  search: FragmentOf<typeof SimilarFields>;
  /** Hash of the protein searched with, which is its own best hit. */
  besides?: string;
}

export function SimilarCard({ search, besides }: SimilarCardProps) {
  const { hits, sharedFeatures, restrictedCount } = readFragment(SimilarFields, search);
  const others = hits.filter(({ protein }) => protein.hash !== besides);
  if (others.length === 0) return <p className="note">No other protein has similar features.</p>;
  return (
    <>
      <ul className="hits">
        {others.map(({ score, protein, cluster }) => (
          <li key={protein.hash}>
            <a href={`#/protein/${protein.hash}`}>
              <Thumbnail url={protein.ptm === null ? null : protein.thumbnail.url} size={40} />
              <span>
                {protein.name ?? cluster?.name ?? 'Unnamed'}{' '}
                <small>
                  {[protein.organism, protein.gene, protein.accession, `${protein.length} residues`]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </span>
            </a>
            <Bar share={score} /> {score.toFixed(2)}
          </li>
        ))}
      </ul>
      {restrictedCount > 0 && <p className="note">Hits that are withheld: {restrictedCount}.</p>}
      <h3>Features they share</h3>
      <ul className="chips">
        {sharedFeatures.map(({ feature, occurrences }) => (
          <li key={feature.index}>
            <a href={`#/features/${encodeURIComponent(feature.label ?? '')}`}>{feature.label}</a>{' '}
            {occurrences}
          </li>
        ))}
      </ul>
    </>
  );
}
