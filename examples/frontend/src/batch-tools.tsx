// Tools for a batch that has ended: save its files, and submit again what failed.
import { useState } from 'react';
import { useMutation } from 'urql';
import { Download } from './files.tsx';
import { type FoldInput, keepInput, keptInput } from './fold-input.ts';
import { graphql } from './graphql.ts';
import { Failures, Problem } from './problems.tsx';
import type { WatchedBatch, WatchedTask } from './use-batch-progress.ts';

const SubmitAgain = graphql(`
  mutation SubmitAgain($input: SubmitFoldInput!) {
    submitFold(input: $input) {
      __typename
      ... on FoldSubmitted { batch { batchId } }
      ... on Problem { message hint }
      ... on InvalidInput { issues { path message hint } }
    }
  }
`);

/** The items of the tasks that are submitted again, one for each task. */
const selectFailed = (input: FoldInput, failed: readonly WatchedTask[]): FoldInput => ({
  ...input,
  repeat: 1,
  items: failed
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .flatMap(({ index }) => input.items[(index ?? 0) % input.items.length] ?? []),
});

export function ResubmitFailures({ batchId, failed }: { batchId: string; failed: readonly WatchedTask[] }) {
  const [{ data, error, fetching }, submit] = useMutation(SubmitAgain);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  if (failed.length === 0) return null;
  const input = keptInput(batchId);
  const result = data?.submitFold;
  const send = async () => {
    if (input === undefined) return;
    const again = selectFailed({ ...input, label: `${input.label ?? 'batch'}, again` }, failed);
    // The key makes a second click the same submission: nothing is paid twice.
    const answer = await submit({ input: { ...again, idempotencyKey } });
    const ending = answer.data?.submitFold;
    if (ending?.__typename !== 'FoldSubmitted') return;
    keepInput(ending.batch.batchId, again);
    location.hash = `#/batch/${ending.batch.batchId}`;
  };
  return (
    <>
      <button type="button" disabled={fetching || input === undefined} onClick={() => void send()}>
        Submit the {failed.length} that failed or were cancelled again
      </button>
      {input === undefined && (
        <p className="note">
          Only the tab that submitted a batch has its sequences. Elsewhere, submit a file with only the items
          that failed.
        </p>
      )}
      <Failures error={error} />
      {result && 'message' in result && <Problem message={result.message} hint={result.hint} />}
    </>
  );
}

export function BatchFiles({ batchId, batch }: { batchId: string; batch: WatchedBatch }) {
  return (
    <p className="files">
      <Download url={batch.scoresUrl} name={`${batchId}.tsv`} what="Scores, TSV" />
      <Download url={batch.resultsUrl} name={`${batchId}.zip`} what="All files, ZIP" />
    </p>
  );
}
