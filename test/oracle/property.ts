// The property: whatever is asked, in whatever order, with whatever failing, the gateway says what
// single records say, or that it could not find out.
import fc from 'fast-check';
import { findDifference } from './compare.ts';
import { inParts } from './parts.ts';
import { queriesOver } from './queries.ts';
import {
  DIALECTS,
  type Dialect,
  FAULTS,
  type Fault,
  OPERATION_NAMES,
  type OracleWorld,
  type Question,
} from './world.ts';

/** One query of a session. */
export interface Step extends Question {
  /** A query that is asked at the same time. */
  readonly beside?: Question | undefined;
  /** The failure while they are answered. */
  readonly fault?: Fault | undefined;
  /** Whether the gateway is restarted before them. */
  readonly restart?: boolean;
}

/**
 * Asks one query after the other, of one gateway.
 *
 * @param isDurable - whether the gateway may be restarted
 * @throws Error that names the first place where an answer differs from the reference
 */
export async function holdSession(
  world: OracleWorld,
  dialect: Dialect,
  steps: readonly Step[],
  isDurable = true,
): Promise<void> {
  const session = world.openSession(dialect, isDurable);
  try {
    for (const { fault, restart, beside, ...question } of steps) {
      if (restart === true) await session.restart();
      const questions = beside === undefined ? [question] : [question, beside];
      const wanted = await Promise.all(questions.map(({ query }) => session.reference(query)));
      const answers = await session.ask(questions, fault);
      for (const [i, { query, parts }] of questions.entries()) {
        const fail = (what: string) => {
          throw new Error(
            `${dialect}, ${JSON.stringify(fault)}: ${what}\n${query}\n${parts === undefined ? '' : inParts(query, parts)}`,
          );
        };
        const [reference, answer] = [wanted[i], answers[i]];
        if (reference?.errors !== undefined) fail(`the reference failed: ${reference.errors[0]?.message}`);
        const difference = answer && findDifference(answer, reference?.data);
        if (difference !== undefined) fail(difference);
        const [error] = answer?.errors ?? [];
        const ownFault = answer?.errors?.find(
          ({ extensions }) => extensions?.code === 'INTERNAL_SERVER_ERROR',
        );
        if (ownFault !== undefined) fail(`a fault of the gateway itself: ${JSON.stringify(ownFault)}`);
        if (fault === undefined && error !== undefined)
          fail(`an error although nothing failed: ${JSON.stringify(error)}`);
      }
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
