// Where a visit starts: what can be typed, and a few proteins as pictures.
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';
import { Failures } from './problems.tsx';
import { Thumbnail } from './thumbnail.tsx';

const START = ['P01308', 'P69905', 'P68871', 'P02144', 'P00698', 'P42212'];

const Home = graphql(`
  query Home($ids: [String!]!) {
    lookup(ids: $ids) {
      requested
      protein { name organism thumbnail { url } }
    }
  }
`);

/** The kinds of terms that the search box takes. */
export const Searches = () => (
  <dl className="searches">
    <dt>One protein</dt>
    <dd>
      its UniProt accession (<code>P01308</code>), entry name (<code>INS_HUMAN</code>), hash or address
    </dd>
    <dt>Several</dt>
    <dd>
      the same, one a line or with commas between: a <a href="#/table">table</a>
    </dd>
    <dt>A sequence</dt>
    <dd>
      at least 20 amino acids in capitals, or FASTA with its <code>&gt;</code> line
    </dd>
    <dt>A feature</dt>
    <dd>
      words about it, such as <a href="#/features/helix">helix</a>
    </dd>
  </dl>
);

export function HomePage() {
  const [{ data, error }] = useQuery({ query: Home, variables: { ids: START } });
  return (
    <>
      <h1>Proteins, their neighbours, and your own folds</h1>
      <p>Search for:</p>
      <Searches />
      <p>Or start with one of these:</p>
      <Failures error={error} />
      <ul className="faces large">
        {data?.lookup?.map(
          ({ requested, protein }) =>
            protein && (
              <li key={requested}>
                <a href={`#/protein/${requested}`}>
                  <Thumbnail url={protein.thumbnail.url} size={150} />
                  {protein.name}
                  <small>{[protein.organism, requested].filter(Boolean).join(', ')}</small>
                </a>
              </li>
            ),
        )}
      </ul>
    </>
  );
}
