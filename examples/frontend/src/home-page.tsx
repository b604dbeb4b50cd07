// Where a visit starts: a few proteins as pictures, and what was folded before with this token.
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';
import { Failures } from './problems.tsx';
import { useSession } from './session.tsx';
import { Thumbnail } from './thumbnail.tsx';

const START = ['P01308', 'P69905', 'P68871', 'P02144', 'P00698', 'P42212'];

const Home = graphql(`
  query Home($ids: [String!]!, $mine: Boolean!) {
    lookup(ids: $ids) {
      requested
      protein { name thumbnail { url } }
    }
    myBatches(first: 8) @include(if: $mine) { nodes { batchId label submittedAt } }
  }
`);

export function HomePage() {
  const { token } = useSession();
  const [{ data, error }] = useQuery({ query: Home, variables: { ids: START, mine: token !== '' } });
  return (
    <>
      <h1>Proteins, their neighbours, and your own folds</h1>
      <p>
        Search for an accession, an entry name or a hash, paste a sequence, or describe a feature. Or start
        with one of these:
      </p>
      <Failures error={error} />
      <ul className="faces large">
        {data?.lookup.map(
          ({ requested, protein }) =>
            protein && (
              <li key={requested}>
                <a href={`#/protein/${requested}`}>
                  <Thumbnail url={protein.thumbnail.url} size={150} />
                  {protein.name} <small>{requested}</small>
                </a>
              </li>
            ),
        )}
      </ul>
      {data?.myBatches && data.myBatches.nodes.length > 0 && (
        <section className="card" aria-labelledby="mine">
          <h2 id="mine">Your folds</h2>
          <ul>
            {data.myBatches.nodes.map(({ batchId, label, submittedAt }) => (
              <li key={batchId}>
                <a href={`#/batch/${batchId}`}>{label ?? batchId}</a>{' '}
                {submittedAt && <small>{new Date(submittedAt).toLocaleString()}</small>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
