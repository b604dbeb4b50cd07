// What an examination of the upstream came to, as plain data: checks, differences, limits. Names, kinds and numbers only, never a
// value of an answer. It must not know how anything is asked or shown.
import type { Drift } from '../upstream/contract/compare.ts';

/** How a check ended. */
export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

/** A difference, with what compared: an operation's answer or a file within it. */
export interface Finding extends Drift {
  /** Name in contract/operations.ts, or that of the operation for what is not within a body. */
  readonly answer: string;
  /** What it means for GraphQL users. */
  readonly meaning: string;
}

/** One question to the upstream. */
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
  /** Everything that differs; those of kind `added` do not make a check CHANGED. */
  readonly findings: readonly Finding[];
}

/** Something that was measured on the way. */
export interface Measured {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
}

export interface Report {
  readonly checkedAt: Date;
  /** Origin of the upstream, without anything secret. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
  readonly limits: readonly Measured[];
  /** Settings that would follow the upstream, such as a prefix. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Whether a difference takes something away; what is new does not. */
export const isProblem = ({ kind }: Pick<Drift, 'kind'>): boolean => kind !== 'added';

/** The state of the whole: changed when anything is; unreachable when something is and nothing changed. */
export function statusOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  const has = (status: CheckStatus) => checks.some((check) => check.status === status);
  if (!has('OK') && !has('CHANGED')) return has('UNREACHABLE') ? 'UNREACHABLE' : 'SKIPPED';
  if (has('CHANGED')) return 'CHANGED';
  return has('UNREACHABLE') ? 'UNREACHABLE' : 'OK';
}

/** The part of an address that may be shown: no user, no query. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
