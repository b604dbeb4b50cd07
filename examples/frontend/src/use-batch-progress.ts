// A batch as it moves, from one subscription over Server-Sent Events. A stream that ends before its
// last event is opened again: it starts with the present state, so nothing has to be remembered to
// resume.
import { useEffect, useReducer } from 'react';
import { type CombinedError, useClient } from 'urql';
import { onEnd, pipe, subscribe } from 'wonka';
import { graphql, type ResultOf } from './graphql.ts';

// Scores come with the task that is done, so the ranking grows without another request.
const WatchBatch = graphql(`
  subscription WatchBatch($batchId: ID!) {
    batchProgress(batchId: $batchId) {
      final
      batch {
        label
        resultsUrl
        scoresUrl
        counts { total queued inProgress done failed cancelled percentSettled }
      }
      changedTasks {
        taskId
        name
        index
        repeatIndex
        status
        error { message }
        scores { ipsae iptm ptm meanPlddt }
      }
    }
  }
`);

type Progress = ResultOf<typeof WatchBatch>['batchProgress'];
export type WatchedBatch = Progress['batch'];
export type WatchedTask = Progress['changedTasks'][number];

export interface BatchWatch {
  progress?: Progress;
  tasks: ReadonlyMap<string, WatchedTask>;
  error: CombinedError | undefined;
  reconnecting: boolean;
}

type Event =
  | { data?: ResultOf<typeof WatchBatch> | undefined; error?: CombinedError | undefined }
  | 'cut'
  | 'anew';

const NOTHING: BatchWatch = { tasks: new Map(), error: undefined, reconnecting: false };

function after(watch: BatchWatch, event: Event): BatchWatch {
  if (event === 'anew') return NOTHING;
  if (event === 'cut') return { ...watch, reconnecting: true };
  const progress = event.data?.batchProgress;
  if (progress === undefined) return { ...watch, error: event.error };
  const tasks = new Map(watch.tasks);
  for (const task of progress.changedTasks) tasks.set(task.taskId, task);
  return { progress, tasks, error: event.error, reconnecting: false };
}

export function useBatchProgress(batchId: string): BatchWatch {
  const client = useClient();
  const [watch, tell] = useReducer(after, NOTHING);
  useEffect(() => {
    let over = false;
    let pause = 500;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop = () => {};
    const open = () => {
      const stream = pipe(
        client.subscription(WatchBatch, { batchId }),
        onEnd(() => {
          if (over) return;
          tell('cut');
          timer = setTimeout(open, pause);
          pause = Math.min(pause * 2, 15_000);
        }),
        subscribe(({ data, error }) => {
          const refused = error?.graphQLErrors.some(({ extensions }) => extensions.retryable === false);
          over ||= data?.batchProgress.final || (!data && refused === true);
          if (data) pause = 500;
          tell({ data, error });
        }),
      );
      stop = stream.unsubscribe;
    };
    tell('anew');
    open();
    return () => {
      over = true;
      clearTimeout(timer);
      stop();
    };
  }, [client, batchId]);
  return watch;
}
