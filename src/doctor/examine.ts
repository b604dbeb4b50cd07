// A whole examination of an upstream, from the prefixes to what was asked for specially. It must not know who wants it.
import type { Downloads } from '../upstream/download.ts';
import type { Upstream } from '../upstream/http.ts';
import { examineAtlas, type Part } from './atlas.ts';
import { examineBatch, examineFold } from './batch.ts';
import { examineJob } from './job.ts';
import { findMoved } from './prefixes.ts';
import { type Report, shownUrl, statusOf } from './report.ts';

export interface ExamineOptions {
  readonly downloads: Downloads;
  /** Leaves out what is large. */
  readonly light?: boolean;
  /** Whether to send a bulk job and follow it. */
  readonly job?: boolean;
  /** Submits the smallest fold with this model. It costs credits. */
  readonly submit?: { readonly model: string };
  /** Milliseconds that a job or a fold may take. */
  readonly patience?: number;
  readonly sandbox?: boolean;
  readonly onProgress?: (line: string) => void;
}

const PATIENCE = 10 * 60_000;

/** Examines the upstream. It never throws for what the upstream does. */
export async function examine(upstream: Upstream, options: ExamineOptions): Promise<Report> {
  const { downloads, light = false, patience = PATIENCE, onProgress = () => undefined } = options;
  onProgress('looking for both APIs');
  const [atlas, batch] = await Promise.all([findMoved(upstream, 'atlas'), findMoved(upstream, 'batch')]);
  const moved = [atlas, batch].filter((one) => one !== null);
  const up: Upstream = {
    ...upstream,
    settings: {
      ...upstream.settings,
      ...(atlas === null ? {} : { atlasPrefix: atlas.prefix }),
      ...(batch === null ? {} : { batchPrefix: batch.prefix }),
    },
  };
  const parts: Part[] = [{ checks: moved.map(({ check }) => check), limits: [] }];
  onProgress('asking the Atlas');
  parts.push(await examineAtlas(up, { light }));
  onProgress('asking the Batch API');
  parts.push(await examineBatch(up));
  if (options.job === true) parts.push(await examineJob(up, downloads, patience, onProgress));
  if (options.submit !== undefined) {
    parts.push(await examineFold(up, { downloads, patience, onProgress, model: options.submit.model }));
  }
  const checks = parts.flatMap((part) => part.checks);
  return {
    checkedAt: new Date(),
    upstream: shownUrl(upstream.settings.baseUrl),
    sandbox: options.sandbox === true,
    status: statusOf(checks),
    checks,
    limits: parts.flatMap((part) => part.limits),
    settings: Object.fromEntries(moved.map(({ setting, prefix }) => [setting, prefix])),
  };
}
