// The report as plain data: checks, differences, measured limits. It holds names, kinds and
// numbers, never a value of an answer.
import type { Drift } from './compare.ts';

/** How a check ended. */
export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

/** A difference, with what was compared: an operation's answer or a file in it. */
export interface Finding extends Drift {
  /** Name in contract/answers.ts, or that of the operation for a difference outside the body. */
  readonly answer: string;
  /** What it means for GraphQL users. */
  readonly meaning: string;
}

/** One check of the upstream. */
export interface Check {
  /** Such as `protein` or `protein, unknown hash`. */
  readonly name: string;
  /** The REST operation. */
  readonly operation: string;
  readonly status: CheckStatus;
  /** HTTP status; absent when no answer came. */
  readonly http?: number;
  readonly milliseconds?: number;
  /** Why it was skipped or is unreachable. */
  readonly note?: string;
  /** All differences; those of kind `added` do not make a check CHANGED. */
  readonly findings: readonly Finding[];
}

/** A limit that was measured. */
export interface Measured {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
}

export interface Report {
  readonly checkedAt: Date;
  /** Address of the upstream without credentials. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
  readonly limits: readonly Measured[];
  /** Settings that would adapt the gateway to the upstream, such as a prefix. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Whether a difference takes something away; an addition does not. */
export const isProblem = ({ kind }: Pick<Drift, 'kind'>): boolean => kind !== 'added';

/** The overall status: CHANGED if any check is; otherwise UNREACHABLE if any check is. */
export function statusOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  const has = (status: CheckStatus) => checks.some((check) => check.status === status);
  if (!has('OK') && !has('CHANGED')) return has('UNREACHABLE') ? 'UNREACHABLE' : 'SKIPPED';
  if (has('CHANGED')) return 'CHANGED';
  return has('UNREACHABLE') ? 'UNREACHABLE' : 'OK';
}

/** An address without user and query. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
