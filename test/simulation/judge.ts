// Judges a history from outside: what callers were told against what the service really has.
import type { Asked, History } from './history.ts';
import { EVENTS } from './plan.ts';
import type { Received, Sent, SentToBatch, TrueBatch } from './service.ts';

export interface Violation {
  /** The promise that was broken; README.md lists them. */
  readonly rule: 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h';
  readonly text: string;
}

const RETENTION_MS = 31 * 24 * 3_600_000;
/**
 * Polls of one batch are never closer: the first interval is 2 s, and jitter takes a fifth of it.
 */
const MIN_POLL_MS = 1_500;
/** A poll is on its way, and its answer on the way back, for at most as long. */
const POLL_WAY_MS = 100;
/** Answers that say that nothing was queued. */
const NOTHING = new Set(['Refused', 'InvalidInput', 'IdempotencyConflict']);

type Rule = (history: History) => string | undefined;

const submissions = ({ asked }: History): Asked[] => asked.filter(({ kind }) => kind === 'submit');

/** The request that had something sent to the service. */
const sender = ({ asked }: History, { requestId }: Pick<Sent, 'requestId'>): Asked | undefined =>
  asked.find(({ id }) => id === requestId);

/** Whether what the ledger knew at a time was given up at a later one. */
const isGivenUp = ({ givenUp }: History, at: number, later: number): boolean =>
  givenUp.some(({ from, to }) => from >= at && from <= later && later <= to);

function paidTwice(history: History): string | undefined {
  const byKey = new Map<string, TrueBatch[]>();
  for (const batch of history.service.batches.values()) {
    const by = sender(history, batch);
    if (by === undefined) return `${batch.id} was sent by no request`;
    const key = by.key === null ? by.id : `${by.caller} ${by.key}`;
    const before = byKey.get(key) ?? [];
    // A Submit may still be on its way when an operator accepts that its key is lost.
    const again = before.find(
      (other) =>
        batch.at - other.at < RETENTION_MS &&
        !isGivenUp(history, Math.min(by.at, sender(history, other)?.at ?? other.at), batch.at),
    );
    if (again !== undefined)
      return `${by.key ?? by.id} of ${by.caller} was paid twice: ${again.id} and ${batch.id}`;
    byKey.set(key, [...before, batch]);
  }
  return undefined;
}

function lie(history: History): string | undefined {
  const { service } = history;
  for (const one of submissions(history)) {
    const { told, id } = one;
    if (told === undefined || told.type === 'cut') continue;
    const sent = service.submits.filter(({ requestId }) => requestId === id);
    const paid = sent.find(({ batchId }) => batchId !== undefined)?.batchId;
    const [batchId] = told.batchIds;
    if (told.type === 'FoldSubmitted') {
      const batch = service.batches.get(batchId ?? '');
      if (batch === undefined) return `${id} was told of ${batchId}, which does not exist`;
      if (!told.isReplayed && batch.requestId !== id)
        return `${id} was told that it queued ${batchId}, which it did not`;
    } else if (NOTHING.has(told.type) && paid !== undefined) {
      return `${id} was told ${told.type}, and ${paid} exists`;
    } else if (told.type === 'error' && sent.length > 0) {
      return `${id} was told an error that does not say what became of its Submit: ${told.text}`;
    }
  }
  return undefined;
}

const isSameKey = (one: Asked, other: Asked): boolean => one.caller === other.caller && one.key === other.key;

/** The answer to one submission has to hold for the next ones with its key. */
function forgets(history: History): string | undefined {
  const { filesLostAt, withoutFile, service } = history;
  const all = submissions(history).filter(({ key }) => key !== null);
  for (const [index, later] of all.entries()) {
    const { told } = later;
    if (told === undefined || ['cut', 'error', 'Refused'].includes(told.type)) continue;
    // A store may still lose an outcome of which one caller was told that it is not remembered.
    if (all.some((one) => isSameKey(one, later) && one.told?.warnings.includes('NOT_REMEMBERED'))) continue;
    const known = all.slice(0, index).find(
      (one) =>
        isSameKey(one, later) &&
        one.input === later.input &&
        one.told?.type === 'FoldSubmitted' &&
        one.told.at <= later.at &&
        later.at - (service.batches.get(one.told.batchIds[0] ?? '')?.at ?? one.at) < RETENTION_MS &&
        !isGivenUp(history, one.at, told.at) &&
        // It may have known that from a file that is gone.
        !withoutFile.has(one.replica) &&
        // A copy that was put back may not know it.
        !filesLostAt.some((at) => at >= one.at && at <= told.at),
    );
    const batchId = known?.told?.batchIds[0];
    if (batchId !== undefined && told.batchIds[0] !== batchId)
      return `${known?.id} was told of ${batchId}, and ${later.id} with the same key ${told.type} ${told.batchIds}`;
  }
  return undefined;
}

/** A key that was only ever refused is free. Redis may not have heard that it is. */
function keepsRefused(history: History): string | undefined {
  if (history.plan.store === 'redis') return undefined;
  const all = submissions(history).filter(({ key }) => key !== null);
  for (const last of all) {
    const { told } = last;
    if (told?.type !== 'OutcomeUnknown') continue;
    const others = all.filter((one) => one !== last && isSameKey(one, last) && one.at <= told.at);
    const isRefused = ({ told: answer }: Asked) =>
      answer !== undefined && answer.at <= last.at && ['Refused', 'InvalidInput'].includes(answer.type);
    const isFree = others.every(isRefused);
    const hasSent = history.service.submits.some(({ requestId }) => requestId === last.id);
    // A copy that was put back may have it as it was while a request was on its way.
    const isOld = history.filesLostAt.some((at) => at <= told.at);
    if (isFree && !hasSent && !isOld)
      return `every use of ${last.key} was refused, and ${last.id} was told that its outcome is unknown`;
  }
  return undefined;
}

function confuses(history: History): string | undefined {
  for (const { told, input, id, key, caller } of submissions(history)) {
    const [batchId] = told?.batchIds ?? [];
    const batch = history.service.batches.get(batchId ?? '');
    if (told?.type === 'FoldSubmitted' && batch !== undefined && batch.input !== input)
      return `${id} sent ${input} and was given ${batch.id} of ${batch.input}`;
    if (told?.type !== 'IdempotencyConflict') continue;
    const others = submissions(history).filter(
      (one) => one.caller === caller && one.key === key && one.input !== input,
    );
    if (others.length === 0) return `${id} was told of a conflict, and its key had no other input`;
  }
  return undefined;
}

function mixes(history: History): string | undefined {
  const { asked, service, plan } = history;
  const owner = (batchId: string) => {
    const batch = service.batches.get(batchId);
    return batch && sender(history, batch);
  };
  for (const { told, caller, id, kind } of asked)
    for (const batchId of told?.batchIds ?? []) {
      const by = owner(batchId)?.caller;
      if (by !== undefined && by !== caller)
        return `${id} (${kind} of ${caller}) was shown ${batchId} of ${by}`;
    }
  for (const { requestId, batchId } of service.cancels) {
    const by = sender(history, { requestId })?.caller;
    if (plan.isShared && by !== owner(batchId)?.caller)
      return `${by} cancelled ${batchId} of ${owner(batchId)?.caller}`;
  }
  const wrong = service.received.find(({ url, batchId }) => owner(batchId)?.url !== url);
  return wrong && `a webhook of ${wrong.batchId} went to ${wrong.url}`;
}

function owesWebhook(history: History): string | undefined {
  const { service, filesLostAt, withoutFile, mixedAt, aheadMs, endedAt, plan } = history;
  // A replica then takes leases over that another one still has.
  const isSetBack = plan.events.some(({ kind, hours }) => kind === 'set clock' && hours < 0);
  for (const { told, url, id, at, replica } of submissions(history)) {
    if (url === null) continue;
    const received = service.received.filter((one) => one.url === url);
    if (new Set(received.map((one) => one.id)).size > 1)
      return `the webhook of ${id} was sent with several ids`;
    // A process that has ended hears no answer.
    const isHeard = (one: Received) =>
      one.at + POLL_WAY_MS < (endedAt.get(one.replica) ?? Number.POSITIVE_INFINITY);
    const gone = received.findIndex((one) => one.status === 410 && isHeard(one));
    const goneAt = received[gone]?.at ?? 0;
    // A copy that was put back has the webhook as it was.
    const isBack = isSetBack || filesLostAt.some((lostAt) => lostAt >= goneAt);
    if (gone !== -1 && gone < received.length - 1 && !isBack)
      return `the webhook of ${id} was sent again after 410`;
    const isPromised =
      told?.type === 'FoldSubmitted' && !told.isReplayed && !told.warnings.includes('NOTIFY_NOT_STORED');
    const isInFile = !withoutFile.has(replica) && mixedAt > at;
    const isLost = filesLostAt.some((lostAt) => lostAt >= at) || !isInFile || aheadMs >= RETENTION_MS;
    if (isPromised && !isLost && received.length === 0)
      return `the webhook of ${id} (${told.batchIds}) was never sent`;
  }
  return undefined;
}

function sendsWhenLost(history: History): string | undefined {
  const senders = history.service.submits.map((submit) => sender(history, submit));
  const wrong = senders.find(
    (by) => by && by.key !== null && history.losses.some(({ from, to }) => by.at > from && by.at < to),
  );
  return wrong && `${wrong.id} was sent with a key, and the ledger had lost keys`;
}

/**
 * Events that may lose a part of the ledger, or make it look so; a failover, the mark of a new one.
 */
const LOSING: ReadonlySet<string> = new Set([
  ...['restore', 'remove file', 'remove witness', 'rotate secret', 'forget secret', 'set clock'],
  ...['lose follower', 'restart store', 'fail over'],
]);

/** A ledger that has lost nothing is declared lost by no gateway. */
function declaresLost(history: History): string | undefined {
  if (history.plan.events.some(({ kind }) => LOSING.has(kind))) return undefined;
  const wrong = submissions(history).find(({ told }) =>
    told?.text.startsWith('The ledger of the gateway has lost'),
  );
  return wrong && `${wrong.id} was told that the ledger has lost keys, and it has not`;
}

function pollsTooOften(history: History): string | undefined {
  const { service, plan, asked, powerCutAt, stoppedAt, filesLostAt, mixedAt } = history;
  const isStoreTroubled =
    plan.storeTrouble > 0 || plan.events.some(({ kind }) => EVENTS[kind].store === 'redis');
  const hasClockSet = plan.events.some(({ kind }) => kind === 'set clock');
  // Webhooks stay under the name that their caller had.
  const hasTwoNames = plan.hasWebhooks && plan.events.some(({ kind }) => kind.endsWith(' secret'));
  // In a damaged file replicas share nothing.
  const isMixed = mixedAt < Number.POSITIVE_INFINITY;
  if (plan.trouble > 0 || hasClockSet || hasTwoNames || isMixed || isStoreTroubled) return undefined;
  const isPoll = new Set(asked.filter(({ kind }) => kind !== 'watch').map(({ id }) => id));
  // A refusal that ended an earlier subscription is asked again for a new one.
  const isOwn = ({ batchId, token }: SentToBatch) => service.batches.get(batchId)?.token === token;
  const polls = service.polls.filter((poll) => !isPoll.has(poll.requestId) && isOwn(poll));
  for (const [index, poll] of polls.entries()) {
    const before = polls
      .slice(0, index)
      .findLast(({ batchId, token }) => batchId === poll.batchId && token === poll.token);
    if (before === undefined || poll.at - before.at >= MIN_POLL_MS) continue;
    const isBetween = (at: number) => at >= before.at - POLL_WAY_MS && at <= poll.at;
    const isGivenUp = stoppedAt.some((at) => isBetween(at) && at <= before.at + POLL_WAY_MS);
    const isCancelled = service.cancels.some(({ batchId, at }) => batchId === poll.batchId && isBetween(at));
    const isWanted = isCancelled || isGivenUp || [...powerCutAt, ...filesLostAt].some(isBetween);
    if (!isWanted)
      return `${poll.batchId} was polled by ${before.replica} and ${poll.at - before.at} ms later by ${poll.replica}`;
  }
  return undefined;
}

function waits({ isStuck, asked }: History): string | undefined {
  const waiting = asked.find(({ told, kind }) => told === undefined && kind !== 'watch');
  return isStuck ?? (waiting && `${waiting.id} was never answered`);
}

const RULES: readonly (readonly [Violation['rule'], Rule])[] = [
  ['a', paidTwice],
  ['b', lie],
  ['b', forgets],
  ['b', keepsRefused],
  ['c', confuses],
  ['d', mixes],
  ['e', owesWebhook],
  ['f', sendsWhenLost],
  ['f', declaresLost],
  ['g', pollsTooOften],
  ['h', waits],
];

/** The first promise that a history breaks. */
export function findViolation(history: History): Violation | undefined {
  for (const [rule, find] of RULES) {
    const text = find(history);
    if (text !== undefined) return { rule, text };
  }
  return undefined;
}
