// The errors of folding results.
import { type FoldingResult, mapMisfits } from '../../structure/fold/result.ts';
import { UpstreamError } from '../errors.ts';
import { drifted } from '../http/validate-response.ts';

/** The error of a task that is done and has neither a result nor an expiry. */
export const missingResult = (): UpstreamError =>
  drifted('status', '$.response', 'the task is done, and there is no result', true);

/** The error of a part of a result that cannot be trusted. */
export const untrustedPart = (misfit: string): UpstreamError =>
  new UpstreamError(misfit, { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false });

/** Returns a part of a result. @throws UpstreamError UPSTREAM_DRIFT when there is a misfit */
export function checkPart<T>(part: T, misfit: string | null): T {
  if (misfit !== null) throw untrustedPart(misfit);
  return part;
}

const REPORT_IT = 'Report it to the service: the fold was paid, and the task can be read again.';

/** Adds the task, and advice, to each sentence that says why a part cannot be trusted. */
export function locateMisfits(fold: FoldingResult, taskId: string): FoldingResult {
  const locate = (misfit: string | null) => misfit && `Task ${taskId}: ${misfit} ${REPORT_IT}`;
  return { ...fold, misfits: mapMisfits(fold.misfits, locate) };
}

/** A result whose fresh address is refused: stores answer so for a file that is gone, too. */
export class RefusedResultError extends UpstreamError {
  constructor() {
    super('The upstream does not let its own result be downloaded. Try again in a moment.', {
      operation: 'download',
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    });
  }
}

/** The error of a result that could not be parsed; any other error stays as it is. */
export const toUnreadable = (error: unknown, taskId: string): unknown =>
  error instanceof SyntaxError
    ? new UpstreamError(
        `Task ${taskId}: The result that the upstream stored cannot be read. ${error.message} ${REPORT_IT}`,
        { operation: 'download', code: 'UPSTREAM_DRIFT', status: 200, retryable: true },
        { cause: error },
      )
    : error;
