// The property: whatever is asked, in whatever order, with whatever failing, the gateway says what single records say, or
// that it could not find out.
import fc from 'fast-check';
import { findDifference } from './compare.ts';
import { inParts } from './parts.ts';
import { queriesOver } from './queries.ts';
import { DIALECTS, type Dialect, FAULTS, type Fault, OPERATION_NAMES, type OracleWorld } from './world.ts';

/** What a client accepts that takes answers in parts. */
const PARTS = 'multipart/mixed;deferSpec=20220824';

/** One query of a session. */
export interface Step {
  readonly query: string;
  /** What fails while it is answered. */
  readonly fault?: Fault | undefined;
  /** Whether the gateway is restarted before it. */
  readonly restart?: boolean;
  /** Decides which of its selections are deferred, and which of its lists streamed; it is asked whole without. */
  readonly parts?: number | undefined;
}

/**
 * Asks one query after the other, of one gateway.
 *
 * @throws Error that names the first place where an answer differs from the reference
 */
export async function holdSession(
  world: OracleWorld,
  dialect: Dialect,
  steps: readonly Step[],
): Promise<void> {
  const session = world.openSession(dialect);
  try {
    for (const { query, fault, restart, parts } of steps) {
      if (restart === true) await session.restart();
      const wanted = await session.reference(query);
      const fail = (what: string) => {
        throw new Error(
          `${dialect}, ${JSON.stringify(fault)}: ${what}\n${query}\n${parts === undefined ? '' : inParts(query, parts)}`,
        );
      };
      if (wanted.errors !== undefined) fail(`the reference failed: ${wanted.errors[0]?.message}`);
      const asked = parts === undefined ? query : inParts(query, parts);
      const answer = await session.ask(asked, fault, parts === undefined ? undefined : PARTS);
      const difference = findDifference(answer, wanted.data);
      if (difference !== undefined) fail(difference);
      const [error] = answer.errors ?? [];
      if (fault === undefined && error !== undefined)
        fail(`an error although nothing failed: ${JSON.stringify(error)}`);
    }
  } finally {
    await session.close();
  }
}

export const faults: fc.Arbitrary<Fault> = fc.record({
  operation: fc.constantFrom(...OPERATION_NAMES),
  kind: fc.constantFrom(...FAULTS),
  times: fc.constantFrom(1, 1000),
});

/** Sessions of some queries each, in one dialect. */
export function oracleProperty(world: OracleWorld): fc.IAsyncProperty<unknown[]> {
  const steps: fc.Arbitrary<Step> = fc.record({
    query: queriesOver(world.subjects),
    fault: fc.option(faults, { freq: 4, nil: undefined }),
    restart: fc.nat(9).map((n) => n === 0),
    parts: fc.option(fc.nat(), { freq: 2, nil: undefined }),
  });
  return fc.asyncProperty(
    fc.constantFrom(...DIALECTS),
    fc.array(steps, { minLength: 1, maxLength: 14, size: 'max' }),
    (dialect, session) => holdSession(world, dialect, session),
  ) as fc.IAsyncProperty<unknown[]>;
}
