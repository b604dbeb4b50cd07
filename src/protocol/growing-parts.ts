// An answer that comes in parts: one list, some items in each, with what has failed in them, as bytes that are made as they are written. It
// knows neither GraphQL's execution nor HTTP.
import { GraphQLError } from 'graphql';
import { type AnyResult, bodyOf } from './answer.ts';
import { type Body, openBody } from './body.ts';
import type { Growing, Shown } from './growing-answer.ts';
import type { Framing } from './streamed-answer.ts';

/** One that is given in parts (`@stream`). */
export interface GrowingInParts extends Growing {
  /** What the first part has. */
  readonly initial: readonly unknown[];
}

/** Items of a part at most: a client that draws them as they come has some to draw soon. */
const IN_A_PART = 16;

const errorOf = (thrown: unknown): GraphQLError =>
  thrown instanceof GraphQLError ? thrown : new GraphQLError(String(thrown));

/**
 * The parts of a growing result, in the format of 2022-08-24: each has the next items, and where the first of them stands.
 *
 * @param label - of the list's `@stream`
 */
export async function* growingParts(
  growing: GrowingInParts,
  label: string | undefined,
  shown: Shown,
): AsyncGenerator<AnyResult, void, undefined> {
  const { key, initial } = growing;
  let told = 0;
  /** What has failed since the part before. */
  const failed = (): { readonly errors?: readonly GraphQLError[] } => {
    const errors = growing.errors.slice(told);
    told += errors.length;
    return errors.length === 0 ? {} : { errors: shown(errors) };
  };
  yield { ...failed(), data: { [key]: initial }, hasNext: true };
  let at = initial.length;
  const part = (items: readonly unknown[] | null, more: ReturnType<typeof failed>) => ({
    path: [key, at],
    ...(label === undefined ? {} : { label }),
    items,
    ...more,
  });
  try {
    for (;;) {
      const items = await growing.next(IN_A_PART);
      if (items === undefined) break;
      yield { hasNext: true, incremental: [part(items, failed())] };
      at += items.length;
    }
    yield { hasNext: false };
  } catch (error) {
    const { errors = [] } = failed();
    yield { hasNext: false, incremental: [part(null, { errors: [...errors, ...shown([errorOf(error)])] })] };
  }
}

const SILENT = Symbol('silent');

/** What comes, and a sign of life behind each while in which nothing has. */
async function* alive<T>(source: AsyncIterator<T>, sign: T, ms: number): AsyncGenerator<T, void, undefined> {
  for (;;) {
    const coming = source.next();
    // It may fail when nobody waits for it any more.
    coming.catch(() => undefined);
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<typeof SILENT>((resolve) => {
        timer = setTimeout(resolve, ms, SILENT).unref();
      });
      const next = await Promise.race([coming, silence]);
      clearTimeout(timer);
      if (next === SILENT) {
        yield sign;
        continue;
      }
      if (next.done === true) return;
      yield next.value;
      break;
    }
  }
}

const textBody = (text: string): Body => openBody({ around: [text], texts: [] });

async function* framed(
  parts: AsyncIterable<AnyResult>,
  { opening, head, tail, closing }: Framing,
): AsyncGenerator<Body, void, undefined> {
  let before = `${opening}${head}`;
  for await (const part of parts) {
    const body = bodyOf(part, before, tail);
    yield typeof body === 'string' ? textBody(body) : body;
    before = head;
  }
  yield textBody(closing);
}

/**
 * Parts as bytes that are made as they are written.
 *
 * @param pulseMs - milliseconds of silence behind which there is a sign of life, where the framing has one
 */
export function framedBodies(
  parts: AsyncIterable<AnyResult>,
  framing: Framing,
  pulseMs: number,
): AsyncIterable<Body> {
  const bodies = framed(parts, framing);
  return framing.pulse === undefined ? bodies : alive(bodies, textBody(framing.pulse), pulseMs);
}
