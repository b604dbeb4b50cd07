// Relay paging over a list: walking by cursors sees every item once, whatever the page size.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listPage, type PageArgs } from '../../src/resolvers/relay/connection.ts';

const items = fc.uniqueArray(fc.integer(), { maxLength: 60 });

const pageOfNumbers = (list: readonly number[], args: PageArgs) => listPage(list, args, (item) => item);

describe('listPage', () => {
  it('walks forward through everything exactly once', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 20 }), (list, first) => {
        const seen: number[] = [];
        let after: string | null = null;
        for (;;) {
          const page: ReturnType<typeof pageOfNumbers> = pageOfNumbers(list, { first, after });
          expect(page.totalCount).toBe(list.length);
          seen.push(...page.edges.map((edge) => edge.node));
          if (!page.pageInfo.hasNextPage) break;
          after = page.pageInfo.endCursor;
        }
        expect(seen).toEqual(list);
      }),
    );
  });

  it('begins after any cursor, and gives no cursors on an empty page', () => {
    fc.assert(
      fc.property(items, fc.nat(70), fc.option(fc.nat(30)), (list, position, first) => {
        const after = Buffer.from(String(position)).toString('base64url');
        const page = pageOfNumbers(list, { after, first });
        const rest = list.slice(position + 1);
        expect(page.edges.map((edge) => edge.node)).toEqual(rest.slice(0, first ?? 20));
        expect(page.pageInfo.hasNextPage).toBe(rest.length > (first ?? 20));
        if (page.edges.length === 0)
          expect(page.pageInfo).toMatchObject({ startCursor: null, endCursor: null });
      }),
    );
  });

  it.each([{ first: -1 }, { first: 1001 }, { after: 'rubbish' }, { after: '' }])('refuses %o', (args) => {
    expect(() => pageOfNumbers([1, 2, 3], args)).toThrow(/must be between|not a cursor/);
  });
});
