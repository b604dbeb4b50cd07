// A submitted batch: progress while it runs, tasks ranked as they finish, and the result of the best one.
import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql } from './graphql.ts';
import { Failures, Loading, Problem } from './problems.tsx';
import { ResultCard } from './result-card.tsx';
import { TokenField } from './token-field.tsx';
import { useBatchProgress, type WatchedTask } from './use-batch-progress.ts';

const CancelBatch = graphql(`
  mutation CancelBatch($batchId: ID!) {
    cancelBatch(batchId: $batchId) {
      __typename
      ... on Cancelled { cancelledCount stillRunningCount }
      ... on Problem { message hint }
    }
  }
`);

const STATES = ['done', 'inProgress', 'queued', 'failed', 'cancelled'] as const;
const NAMES = {
  done: 'done',
  inProgress: 'running',
  queued: 'queued',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** ipTM says how sure the model is of the interfaces; a single chain has none and is ranked by pTM. */
const rank = ({ scores }: WatchedTask): number => scores?.iptm ?? scores?.ptm ?? -1;

function Cancel({ batchId }: { batchId: string }) {
  const [{ data, error, fetching }, cancel] = useMutation(CancelBatch);
  const result = data?.cancelBatch;
  return (
    <>
      <button type="button" disabled={fetching} onClick={() => void cancel({ batchId })}>
        Cancel what is queued
      </button>
      <Failures error={error} />
      {result && 'message' in result && <Problem message={result.message} hint={result.hint} />}
    </>
  );
}

export function BatchPage({ batchId }: { batchId: string }) {
  const { progress, tasks, error, reconnecting } = useBatchProgress(batchId);
  const [chosen, choose] = useState<string>();
  const ranked = [...tasks.values()].sort((a, b) => rank(b) - rank(a));
  const counts = progress?.batch.counts;
  const shown = tasks.get(chosen ?? '') ?? ranked[0];
  return (
    <>
      <h1>{progress?.batch.label ?? 'A batch of folds'}</h1>
      <Failures error={error} />
      {error && !progress && <TokenField />}
      {!error && !progress && <Loading what="Asking how far it is" />}
      {reconnecting && <Loading what="The connection was cut; connecting again" />}
      {counts && (
        <section className="card" aria-labelledby="progress">
          <h2 id="progress">{progress.final ? 'Finished' : 'Folding'}</h2>
          <div
            className="progress"
            role="progressbar"
            aria-label="Tasks that are settled"
            aria-valuenow={Math.round(counts.settledFraction * 100)}
          >
            {STATES.map((state) => (
              <span key={state} className={state} style={{ flexGrow: counts[state] }} />
            ))}
          </div>
          <ul className="legend" aria-live="polite">
            {STATES.filter((state) => counts[state] > 0).map((state) => (
              <li key={state}>
                <span className={`swatch ${state}`} /> {counts[state]} {NAMES[state]}
              </li>
            ))}
          </ul>
          {counts.queued > 0 && <Cancel batchId={batchId} />}
        </section>
      )}
      {ranked.length > 0 && (
        <section className="card" aria-labelledby="ranking">
          <h2 id="ranking">Ranking</h2>
          <table>
            <thead>
              <tr>
                <th>Task</th>
                <th>State</th>
                <th>ipTM</th>
                <th>pTM</th>
                <th>mean pLDDT</th>
              </tr>
            </thead>
            <tbody>
              {ranked.map((task) => (
                <tr key={task.taskId} aria-current={task === shown}>
                  <th scope="row">
                    <button
                      type="button"
                      className="link"
                      disabled={task.state !== 'DONE'}
                      onClick={() => choose(task.taskId)}
                    >
                      {task.name ?? 'fold'} {task.repeatIndex === null ? '' : `#${task.repeatIndex + 1}`}
                    </button>
                  </th>
                  <td>{task.error?.message ?? task.state.toLowerCase().replace('_', ' ')}</td>
                  <td>{task.scores?.iptm?.toFixed(2) ?? '–'}</td>
                  <td>{task.scores?.ptm?.toFixed(2) ?? '–'}</td>
                  <td>{task.scores?.meanPlddt?.toFixed(1) ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {shown?.state === 'DONE' && <ResultCard key={shown.taskId} taskId={shown.taskId} />}
    </>
  );
}
