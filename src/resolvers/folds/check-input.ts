// Normalises and checks the input of submitFold and checkFold, and tells what the check costs.
import type { GatewayContext } from '../../context.ts';
import { checkSubmission, type SubmissionCheck } from '../../submission/check.ts';
import { inputWeight } from '../../submission/input-weight.ts';
import { readSubmission, type Submission, type SubmissionInput } from '../../submission/submission.ts';
import { submissionHash } from '../../submission/wire-body.ts';
import { checkSmiles } from './check-smiles.ts';

/** Letters whose check costs as much as an upstream call. */
const LETTERS_PER_CALL = 10_000;

export const checkCost = (input: SubmissionInput): number => Math.ceil(inputWeight(input) / LETTERS_PER_CALL);

export interface CheckedInput {
  readonly submission: Submission;
  readonly check: SubmissionCheck;
  /** Hash of the submission; empty when the check has issues. */
  readonly hash: string;
}

export async function checkInput(ctx: GatewayContext, input: SubmissionInput): Promise<CheckedInput> {
  const models = ctx.services.config.FOLD_MODELS;
  const submission = readSubmission(input, models[0] ?? '');
  const check = checkSubmission(submission, models);
  if (check.issues.length > 0) return { submission, check, hash: '' };
  const warnings = [...check.warnings, ...(await checkSmiles(submission))];
  return { submission, check: { ...check, warnings }, hash: submissionHash(submission) };
}
