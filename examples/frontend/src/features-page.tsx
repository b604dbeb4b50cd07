// The feature catalogue, searched with words.
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';
import { Searches } from './home-page.tsx';
import { Failures, Loading } from './problems.tsx';

const FindFeatures = graphql(`
  query FindFeatures($words: String!) {
    features(search: $words, first: 12) {
      totalCount
      nodes {
        index
        label
        category
        description
        topProteins(first: 4) { accession activation }
      }
    }
  }
`);

export function FeaturesPage({ words }: { words: string }) {
  const [{ data, error, fetching }] = useQuery({ query: FindFeatures, variables: { words } });
  if (fetching) return <Loading what="Searching the catalogue" />;
  return (
    <>
      <Failures error={error} />
      {data?.features && (
        <h1>
          {data.features.totalCount} {data.features.totalCount === 1 ? 'feature' : 'features'} for “{words}”
        </h1>
      )}
      {data?.features?.totalCount === 0 && (
        <>
          <p>No feature has these words. You can search for:</p>
          <Searches />
        </>
      )}
      {data?.features?.nodes.map(({ index, label, category, description, topProteins }) => (
        <article key={index} className="card">
          <h2>{label}</h2>
          <p>
            {description}{' '}
            <small>
              Feature {index}
              {category && `, ${category}`}.
            </small>
          </p>
          <ul className="chips" aria-label="Proteins in which it is most active">
            {topProteins?.map(({ accession, activation }) => (
              <li key={accession}>
                <a href={`#/protein/${accession}`}>{accession}</a> {activation.toFixed(1)}
              </li>
            ))}
          </ul>
        </article>
      ))}
    </>
  );
}
