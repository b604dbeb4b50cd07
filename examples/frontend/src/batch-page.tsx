// A submitted batch: progress while it runs, tasks ranked as they finish, and the result that is
// chosen, or the best one.
import { useEffect, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { BatchFiles, ResubmitFailures } from './batch-tools.tsx';
import { graphql } from './graphql.ts';
import { Failures, Loading, Problem } from './problems.tsx';
import { bestFirst, isRanked, type Order, SCORE_NAMES } from './rank.ts';
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

const displayName = ({ name, repeatIndex }: WatchedTask): string =>
  `${name ?? 'fold'}${repeatIndex === null ? '' : ` #${repeatIndex + 1}`}`;

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

interface RankingProps {
  tasks: readonly WatchedTask[];
  shown: WatchedTask | undefined;
  onChoose(taskId: string): void;
}

function Ranking({ tasks, shown, onChoose }: RankingProps) {
  return (
    <div className="scroll">
      <table>
        <thead>
          <tr>
            <th>Design</th>
            <th>Status</th>
            <th>ipSAE</th>
            <th>ipTM</th>
            <th>pTM</th>
            <th>mean pLDDT</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <tr key={task.taskId} aria-current={task === shown}>
              <th scope="row">
                <button
                  type="button"
                  className="link"
                  disabled={task.status !== 'DONE'}
                  onClick={() => onChoose(task.taskId)}
                >
                  {displayName(task)}
                </button>
              </th>
              <td>{task.error?.message ?? task.status.toLowerCase().replace('_', ' ')}</td>
              <td>{task.scores?.ipsae?.toFixed(2) ?? '–'}</td>
              <td>{task.scores?.iptm?.toFixed(2) ?? '–'}</td>
              <td>{task.scores?.ptm?.toFixed(2) ?? '–'}</td>
              <td>{task.scores?.meanPlddt?.toFixed(1) ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function BatchPage({ batchId }: { batchId: string }) {
  const { progress, tasks, error, reconnecting } = useBatchProgress(batchId);
  const [chosen, choose] = useState<string>();
  const view = useRef<HTMLElement>(null);
  const [order, setOrder] = useState<Order>('ipsae');
  const ranked = [...tasks.values()].sort(bestFirst(order));
  const unranked = ranked.filter((task) => task.status === 'DONE' && !isRanked(order, task)).length;
  const counts = progress?.batch.counts;
  const shown = tasks.get(chosen ?? '') ?? ranked[0];
  // Scrolls to the chosen design and focuses it, so that keyboard users follow.
  const show = (taskId: string) => {
    choose(taskId);
    view.current?.focus({ preventScroll: true });
    view.current?.scrollIntoView();
  };
  const label = progress?.batch.label;
  useEffect(() => {
    if (label) document.title = `${label} – Protein browser`;
  }, [label]);
  return (
    <>
      <h1>{label ?? 'A batch of folds'}</h1>
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
            aria-valuenow={Math.round(counts.percentSettled)}
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
          {progress.final && (
            <ResubmitFailures
              batchId={batchId}
              failed={ranked.filter(({ status }) => status === 'FAILED' || status === 'CANCELLED')}
            />
          )}
        </section>
      )}
      {ranked.length > 0 && (
        <section className="card" aria-labelledby="ranking">
          <h2 id="ranking">Ranking</h2>
          <label className="choice">
            Rank by{' '}
            <select value={order} onChange={(event) => setOrder(event.target.value as Order)}>
              <option value="ipsae">ipSAE, then ipTM</option>
              <option value="iptm">ipTM, then pTM</option>
            </select>
          </label>
          {unranked > 0 && (
            <p>
              {unranked} folded without {SCORE_NAMES[order]}, listed last.
            </p>
          )}
          <Ranking tasks={ranked} shown={shown} onChoose={show} />
          {progress && <BatchFiles batchId={batchId} batch={progress.batch} />}
        </section>
      )}
      {shown?.status === 'DONE' && (
        <section ref={view} className="result" tabIndex={-1} aria-labelledby="shown">
          <h2 id="shown">{displayName(shown)}</h2>
          <ResultCard key={shown.taskId} taskId={shown.taskId} />
        </section>
      )}
    </>
  );
}
