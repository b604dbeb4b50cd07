// What the line that every request ends with says. It decides neither where it goes nor who is told, and escapes only what is the
// caller's text: all else are words of the gateway, ids of known letters, and numbers.
import { type Exchange, type ExchangeEnd, shownName } from './exchange.ts';

const PRINCIPAL_LETTERS = 8;

/** The members of a JSON object. Joined by hand: `JSON.stringify` takes four times as long, and there is one for each request. */
export function accessMembers(
  { requestId, step, method, route, operation, principal, upstreamCalls, errors }: Exchange,
  { status, bytes, left }: ExchangeEnd,
  milliseconds: number,
): string {
  let line = `"requestId":"${requestId}","traceId":"${step.context.traceId}","method":"${method}","route":"${route}"`;
  if (method !== 'WS') line += `,"status":${status}`;
  line += `,"milliseconds":${Math.round(milliseconds * 10) / 10}`;
  if (operation !== undefined) line += `,"operation":"${operation.type}"`;
  if (operation?.name != null) line += `,"name":${JSON.stringify(shownName(operation.name))}`;
  if (principal != null) line += `,"principal":"${principal.slice(0, PRINCIPAL_LETTERS)}"`;
  line += `,"upstreamCalls":${upstreamCalls}`;
  if (errors > 0) line += `,"errors":${errors}`;
  if (bytes !== undefined) line += `,"bytes":${bytes}`;
  return left ? `${line},"left":true` : line;
}
