// Our execution of plain queries against that of graphql-js: the same schema, the same documents, made up at random, must come to the same.
import fc from 'fast-check';
import {
  type DocumentNode,
  execute,
  GraphQLError,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { executeOperation } from '../../src/execution/execute-query.ts';

/** What a resolver gives: by its field's number and place, now or later, a value, null or an error. */
interface Node {
  readonly seed: number;
  readonly kind?: string;
}

/** Steps of a small generator of numbers, so that both executions see the same. */
const mix = (seed: number, salt: number): number =>
  (Math.imul(seed ^ (salt * 0x9e3779b1), 0x85ebca6b) >>> 7) & 0xffff;

type Pace = 'at once' | 'later' | 'mixed';
/** More than any of these answers holds. */
const limits = { values: 1e9, bytes: 1e9 };

interface Context {
  readonly seed: number;
  readonly pace: Pace;
  /** By how many items a list grows, time by time. */
}

const later = <T>(pace: Pace, chance: boolean, value: () => T): T | Promise<T> =>
  pace === 'later' || (pace === 'mixed' && chance)
    ? new Promise<void>((resolve) => setImmediate(resolve)).then(value)
    : value();

function fate<T>(
  { pace }: Context,
  seed: number,
  salt: number,
  value: () => T,
): T | null | Promise<T | null> {
  const number = mix(seed, salt);
  return later(pace, number % 3 === 0, () => {
    if (number % 7 === 0) return null;
    if (number % 11 === 0) throw new Error(`failed ${salt}`);
    if (number % 13 === 0) throw new GraphQLError('refused', { extensions: { code: 'BAD_USER_INPUT' } });
    return value();
  });
}

const wrapped: ((type: GraphQLOutputType) => GraphQLOutputType)[] = [
  (type) => type,
  (type) => new GraphQLNonNull(type),
  (type) => new GraphQLList(type),
  (type) => new GraphQLList(new GraphQLNonNull(type)),
  (type) => new GraphQLNonNull(new GraphQLList(type)),
];

const named = new GraphQLInterfaceType({
  name: 'Named',
  fields: { name: { type: GraphQLString }, n: { type: new GraphQLNonNull(GraphQLInt) } },
  resolveType: ({ seed }: Node, { pace }: Context) =>
    later(pace, seed % 4 === 0, () => (seed % 2 === 0 ? 'Even' : 'Odd')),
});
const isList = (index: number): boolean => index >= 2;
const make = (seed: number, salt: number, index: number): unknown =>
  isList(index)
    ? Array.from({ length: mix(seed, salt + 99) % 4 }, (_, i) => ({ seed: mix(seed, salt + i) }))
    : { seed: mix(seed, salt) };

/** A type in each of its wrappings. @param salt - of the first */
const wrappedFields = (letter: string, salt: number, type: GraphQLOutputType) =>
  Object.fromEntries(
    wrapped.map((wrap, index) => [
      `${letter}${index}`,
      {
        type: wrap(type),
        resolve: ({ seed }: Node, _: unknown, ctx: Context) =>
          fate(ctx, seed, salt + index, () => make(seed, salt + index, index)),
      },
    ]),
  );

function objectType(name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    interfaces: [named],
    fields: () => ({
      name: {
        type: GraphQLString,
        resolve: ({ seed }: Node, _: unknown, ctx: Context) => fate(ctx, seed, 1, () => `name ${seed}`),
      },
      n: {
        type: new GraphQLNonNull(GraphQLInt),
        resolve: ({ seed }: Node, _: unknown, ctx: Context) => fate(ctx, seed, 2, () => seed),
      },
      plain: { type: GraphQLInt, resolve: ({ seed }: Node) => seed },
      wrong: { type: GraphQLInt, resolve: () => 'no number' },
      add: {
        type: GraphQLInt,
        args: {
          to: { type: new GraphQLNonNull(GraphQLInt) },
          by: { type: GraphQLInt, defaultValue: 2 },
          all: { type: new GraphQLList(new GraphQLNonNull(GraphQLInt)) },
        },
        resolve: (_: Node, { to, by, all }: { to: number; by?: number | null; all?: number[] | null }) =>
          to * 100 + (by ?? 50) + (all ?? []).reduce((sum, one) => sum + one, 0),
      },
      ...wrappedFields('o', 10, even),
      ...wrappedFields('i', 20, named),
      u: {
        type: new GraphQLList(either),
        resolve: ({ seed }: Node, _: unknown, ctx: Context) => fate(ctx, seed, 30, () => make(seed, 30, 2)),
      },
    }),
  });
}
const even = objectType('Even');
const odd = objectType('Odd');
const either = new GraphQLUnionType({
  name: 'Either',
  types: [even, odd],
  resolveType: ({ seed }: Node) => (seed % 2 === 0 ? 'Even' : 'Odd'),
});

/** Lists at the root that come at once or, to whoever can take that, bit by bit: as many more each time as the context says. */
const wrappedRoots = Object.fromEntries(
  [
    new GraphQLList(even),
    new GraphQLNonNull(new GraphQLList(even)),
    new GraphQLList(new GraphQLNonNull(odd)),
    new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(named))),
    new GraphQLList(GraphQLInt),
  ].map((type, index) => [
    `many${index}`,
    {
      type,
      resolve: (_: unknown, __: unknown, ctx: Context) => {
        const { seed, pace } = ctx;
        const count = mix(seed, 40) % 9;
        const items = Array.from({ length: count }, (_, i) =>
          fate({ ...ctx, pace: 'at once' === pace ? pace : 'later' }, mix(seed, 50 + i), 50, () =>
            index === 4 ? i : { seed: mix(seed, 60 + i) },
          ),
        );
        // One that fails before its turn has come is nobody's fault.
        for (const item of items) Promise.resolve(item).catch(() => undefined);
        return items;
      },
    },
  ]),
);
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      even: { type: even, resolve: (_: unknown, __: unknown, { seed }: Context) => ({ seed: mix(seed, 5) }) },
      sure: {
        type: new GraphQLNonNull(odd),
        resolve: (_: unknown, __: unknown, ctx: Context) =>
          fate(ctx, ctx.seed, 6, () => ({ seed: ctx.seed })),
      },
      ...wrappedRoots,
    },
  }),
  types: [odd],
});

const condition = fc.constantFrom(
  '',
  '',
  ' @include(if: $yes)',
  ' @skip(if: $yes)',
  ' @include(if: $no) @skip(if: $no)',
);
const alias = fc.constantFrom('', '', 'a: ', 'b: ');
const leaf = fc
  .tuple(alias, fc.constantFrom('name', 'n', '__typename'), condition)
  .map(
    ([own, name, when]) => `${own === '' ? '' : `${own.trim().replace(':', '')}_${name}: `}${name}${when}`,
  );
const own = fc.oneof(
  leaf,
  fc.constantFrom(
    'plain',
    'wrong',
    'add(to: 1)',
    'x: add(to: $to)',
    'y: add(to: 2, by: null)',
    'z: add(to: 3, by: $by, all: $all)',
    'w: add(to: 4, all: [1, $to])',
    '...Leaves',
  ),
);
const selection = (depth: number, about: 'object' | 'interface' | 'union'): fc.Arbitrary<string> => {
  const fields: fc.Arbitrary<string>[] =
    about === 'object' ? [own, own] : about === 'interface' ? [leaf] : [fc.constant('__typename')];
  if (depth > 0) {
    const object = selection(depth - 1, 'object');
    if (about === 'object') {
      for (const [index] of wrapped.entries()) {
        fields.push(object.map((below) => `o${index} { ${below} }`));
        fields.push(selection(depth - 1, 'interface').map((below) => `i${index} { ${below} }`));
      }
      fields.push(selection(depth - 1, 'union').map((below) => `u { ${below} }`));
    }
    fields.push(fc.tuple(object, condition).map(([below, when]) => `... on Even${when} { ${below} }`));
    if (about !== 'object') fields.push(object.map((below) => `... on Odd { ${below} }`));
    if (about !== 'interface')
      fields.push(selection(0, 'interface').map((below) => `... on Named { ${below} }`));
  }
  return fc.array(fc.oneof(...fields), { minLength: 1, maxLength: 5 }).map((all) => all.join(' '));
};
const text = fc
  .tuple(selection(3, 'object'), selection(2, 'object'), fc.boolean())
  .map(
    ([one, other, both]) =>
      `query Q($yes: Boolean! = true, $no: Boolean = false, $to: Int! = 7, $by: Int, $all: [Int!]) { even { ${one} } ${both ? `sure { ${other} }` : ''} } fragment Leaves on Even { plain x_n: n name }`,
  );

const RULES = specifiedRules.filter(
  (rule) => rule !== NoUnusedFragmentsRule && rule !== NoUnusedVariablesRule,
);
/** Whether a document is valid, whether or not all of it is used; the first error is enough. */
const isValid = (document: DocumentNode): boolean =>
  validate(schema, document, RULES, { maxErrors: 0 }).length === 0;

/** Documents that are valid. */
const documents = text.map((source): DocumentNode | null => {
  const document = parse(source, { noLocation: false });
  return isValid(document) ? document : null;
});

/** A result as a client would see it, the order of errors apart: those of one moment have none. */
const shown = (result: unknown): { data: unknown; errors: string[] } => {
  const { data, errors = [] } = JSON.parse(JSON.stringify(result)) as { data: unknown; errors?: object[] };
  return { data, errors: errors.map((error) => JSON.stringify(error)).sort() };
};

describe('a plain query', () => {
  it('comes to what graphql-js makes of it, data, errors and their places', async () => {
    let run = 0;
    let failed = 0;
    const variables = fc.record(
      {
        yes: fc.boolean(),
        no: fc.boolean(),
        to: fc.integer({ min: -9, max: 9 }),
        by: fc.option(fc.nat(9)),
        all: fc.array(fc.nat(9), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    const paces = fc.constantFrom<Pace>('at once', 'later', 'mixed');
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.tuple(variables, variables),
        fc.nat(0xffff),
        paces,
        // Other work gets its turn never, or wherever it may.
        fc.constantFrom(Number.POSITIVE_INFINITY, -1),
        async (document, both, seed, pace, turnMs) => {
          const turns = new TurnClock(turnMs);
          if (document === null) return;
          // What is known of a document is known to all of its runs, also to those that are under way together.
          const runs = both.map((variableValues) => {
            const args = { schema, document, variableValues };
            return {
              args,
              ours: executeOperation({ ...args, limits, turns, contextValue: { seed, pace } }),
            };
          });
          for (const { args, ours: running } of runs) {
            // graphql-js forgets promises of a list whose item failed at once; which of two errors comes first is then a matter of time.
            const reference = pace === 'mixed' ? 'at once' : pace;
            const theirs = await execute({ ...args, contextValue: { seed, pace: reference } });
            const ours = await running;
            run += 1;
            if (theirs.errors !== undefined) failed += 1;
            // Members stand in the order of the selection.
            expect(JSON.stringify(ours?.data)).toBe(JSON.stringify(theirs.data));
            // Of several errors in a place, the first one counts, which is a matter of time as well.
            if (pace === 'mixed' || turnMs < 0)
              expect(ours?.errors === undefined).toBe(theirs.errors === undefined);
            else expect(shown(ours)).toEqual(shown(theirs));
          }
        },
      ),
      { numRuns: 600 },
    );
    expect(run).toBeGreaterThan(300);
    expect(failed).toBeGreaterThan(60);
  });

  it('is not run with variables that it does not take', () => {
    const document = parse('query($n: Int!) { even { add(to: $n) } }');
    for (const variableValues of [{}, { n: 'x' }, { n: null }])
      expect(
        executeOperation({
          schema,
          document,
          limits,
          variableValues,
          contextValue: { seed: 1, pace: 'later' },
        }),
      ).toBeUndefined();
  });
});
