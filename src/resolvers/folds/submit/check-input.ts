// Normalises and checks the input of submitFold and checkFold, and tells what the check costs.
import type { GatewayContext } from '../../../context.ts';
import { findUrlFault } from '../../../progress/webhook-url.ts';
import { MAX_PENDING_WEBHOOKS, type WebhookPlace } from '../../../progress/webhooks.ts';
import { readAndCheck, type SubmissionCheck } from '../../../submission/check.ts';
import type { SubmissionInput } from '../../../submission/input.ts';
import { inputWeight } from '../../../submission/input-weight.ts';
import type { Issue } from '../../../submission/issues.ts';
import type { Submission } from '../../../submission/submission.ts';
import { submissionHash } from '../../../submission/wire-body.ts';
import { checkSmiles } from './check-smiles.ts';

/** Letters whose check costs as much as an upstream call. */
const LETTERS_PER_CALL = 10_000;

export const checkCost = ({ items }: SubmissionInput): number =>
  Math.ceil(inputWeight(items) / LETTERS_PER_CALL);

const NOTIFY_OFF: Issue = {
  path: 'notify',
  code: 'NOTIFY_OFF',
  message: 'This gateway sends no webhooks.',
  hint: 'Leave `notify` out and watch batchProgress, or ask the operator for WEBHOOK_HOSTS.',
};

/** The mistake in the address to notify; null without one. */
function checkNotify({ services }: GatewayContext, url: string | null): Issue | null {
  if (url === null) return null;
  if (services.webhooks === null) return NOTIFY_OFF;
  const fault = findUrlFault(url, services.config.WEBHOOK_HOSTS);
  if (fault === null) return null;
  return {
    path: 'notify.url',
    code: 'NOTIFY_URL',
    message: `The address to notify ${fault}.`,
    hint: 'Use an https address without a password, at a host that the operator lists in WEBHOOK_HOSTS.',
  };
}

const TOO_MANY_WEBHOOKS: Issue = {
  path: 'notify',
  code: 'TOO_MANY',
  message: `You have ${MAX_PENDING_WEBHOOKS} batches that you wait to be notified of.`,
  hint: 'Leave `notify` out, or wait until some of them have ended.',
};

/** The caller as its webhooks are stored. */
export const webhookOwner = ({ principal, submissions: { formerNames } }: GatewayContext) => ({
  principal,
  formerNames,
});

/** Takes the place of a webhook. @returns the issue where the caller has no place left */
export async function reserveWebhook(ctx: GatewayContext): Promise<WebhookPlace | Issue> {
  const { webhooks } = ctx.services;
  if (webhooks === null) return NOTIFY_OFF;
  return (await webhooks.reserve(webhookOwner(ctx))) ?? TOO_MANY_WEBHOOKS;
}

export interface CheckedInput {
  readonly submission: Submission;
  readonly check: SubmissionCheck;
  /** Hash of the submission; empty when the check has issues. */
  readonly hash: string;
}

export async function checkInput(ctx: GatewayContext, input: SubmissionInput): Promise<CheckedInput> {
  const models = ctx.services.config.FOLD_MODELS;
  const { submission, check: found } = readAndCheck(input, models);
  const notifyIssue = checkNotify(ctx, submission.notifyUrl);
  const check = notifyIssue === null ? found : { ...found, issues: [...found.issues, notifyIssue] };
  if (check.issues.length > 0) return { submission, check, hash: '' };
  const warnings = [...check.warnings, ...(await checkSmiles(submission))];
  return { submission, check: { ...check, warnings }, hash: submissionHash(submission) };
}
