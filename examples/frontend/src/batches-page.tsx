// Every batch that was submitted with this token, newest first.
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from './graphql.ts';
import { Failures, Loading } from './problems.tsx';
import { useSession } from './session.tsx';
import { TokenField } from './token-field.tsx';

const MyBatches = graphql(`
  query MyBatches($after: String) {
    myBatches(first: 20, after: $after) {
      totalCount
      nodes {
        batchId
        label
        submittedAt
        status
        counts { total done failed cancelled }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

const STATUSES = {
  IN_PROGRESS: 'running',
  DONE: 'all done',
  PARTLY_FAILED: 'partly failed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  UNKNOWN: 'unknown',
};

function Page({ after }: { after: string | null }) {
  const [{ data, error, fetching }] = useQuery({
    query: MyBatches,
    variables: { after },
    requestPolicy: 'cache-and-network',
  });
  const [more, setMore] = useState(false);
  const found = data?.myBatches;
  const { hasNextPage = false, endCursor = null } = found?.pageInfo ?? {};
  return (
    <>
      <Failures error={error} />
      {fetching && !found && <Loading what="Reading your batches" />}
      {found?.totalCount === 0 && (
        <p className="note">
          Nothing has been submitted with this token. <a href="#/fold">Fold a complex</a>
        </p>
      )}
      <ul className="batches">
        {found?.nodes.map(({ batchId, label, submittedAt, status, counts }) => (
          <li key={batchId}>
            <a href={`#/batch/${batchId}`}>
              {label ??
                `${counts?.total === 1 ? 'One fold' : `${counts?.total ?? 'Some'} folds`} without a label`}
            </a>
            <span>
              {status && STATUSES[status]}
              {counts && `: ${counts.done} of ${counts.total} done`}
              {counts && counts.failed > 0 && `, ${counts.failed} failed`}
              {counts && counts.cancelled > 0 && `, ${counts.cancelled} cancelled`}
            </span>
            <small>
              {submittedAt && new Date(submittedAt).toLocaleString()} · <code>{batchId}</code>
            </small>
          </li>
        ))}
      </ul>
      {hasNextPage && !more && (
        <button type="button" onClick={() => setMore(true)}>
          Older batches
        </button>
      )}
      {more && <Page after={endCursor} />}
    </>
  );
}

export function BatchesPage() {
  const { token } = useSession();
  return (
    <>
      <h1>My batches</h1>
      <div className="card">
        <TokenField />
      </div>
      <section className="card" aria-label="Batches">
        {token === '' ? <p className="note">Give the token that you fold with.</p> : <Page after={null} />}
      </section>
    </>
  );
}
